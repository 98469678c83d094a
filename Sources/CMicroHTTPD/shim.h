#pragma once
#include <microhttpd.h>

// What Swift cannot import: the variadic start, and answers that come as unions.

// Paths and queries stay as they were sent: ids need no escapes, and "%00" must not end a text.
static size_t waybill_keep_escapes(void *cls, struct MHD_Connection *connection, char *text) {
  (void)cls;
  (void)connection;
  return __builtin_strlen(text);
}

// Not epoll: with all connections taken it was seen to sleep on after clients had been cut off,
// and to take nobody in any more. For a few hundred connections poll is as quick.
#define WAYBILL_POLLING MHD_USE_POLL_INTERNAL_THREAD

static inline struct MHD_Daemon *waybill_start_daemon(
    int listen_socket, unsigned int threads, unsigned int connection_limit, size_t memory_limit,
    unsigned int idle_seconds, MHD_AccessHandlerCallback handler,
    MHD_RequestCompletedCallback completed, MHD_NotifyConnectionCallback changed, void *context) {
  return MHD_start_daemon(
      WAYBILL_POLLING | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC, 0, NULL, NULL,
      handler, context,
      MHD_OPTION_LISTEN_SOCKET, listen_socket,
      MHD_OPTION_THREAD_POOL_SIZE, threads,
      MHD_OPTION_CONNECTION_LIMIT, connection_limit,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory_limit,
      MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds,
      MHD_OPTION_UNESCAPE_CALLBACK, waybill_keep_escapes, NULL,
      MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_NOTIFY_COMPLETED, completed, context,
      MHD_OPTION_NOTIFY_CONNECTION, changed, context,
      MHD_OPTION_END);
}

static inline int waybill_connection_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? (int)info->connect_fd : -1;
}

static inline struct MHD_Response *waybill_response_from_bytes(const void *bytes, size_t count) {
  return MHD_create_response_from_buffer(count, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}
