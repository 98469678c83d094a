#pragma once
#include <curl/curl.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __linux__
#include <asm/ioctls.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sys/socket.h>

// Declared here, since a header that this module is the first to include becomes a part of it.
extern int ioctl(int descriptor, unsigned long request, ...);
#endif

// What Swift cannot import: libcurl's variadic calls, one wrapper for each type an option takes.

static inline CURLcode waybill_curl_set_integer(CURL *easy, CURLoption option, int64_t value) {
  return curl_easy_setopt(easy, option, (long)value);
}

static inline CURLcode waybill_curl_set_size(CURL *easy, CURLoption option, int64_t value) {
  return curl_easy_setopt(easy, option, (curl_off_t)value);
}

static inline CURLcode waybill_curl_set_text(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode waybill_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}

// Reading, writing and header callbacks have one shape.
static inline CURLcode waybill_curl_set_mover(
    CURL *easy, CURLoption option, size_t (*mover)(char *, size_t, size_t, void *)) {
  return curl_easy_setopt(easy, option, mover);
}

static inline CURLcode waybill_curl_set_seeker(CURL *easy, curl_seek_callback seeker) {
  return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, seeker);
}

static inline CURLMcode waybill_curl_multi_set(CURLM *multi, CURLMoption option, int64_t value) {
  return curl_multi_setopt(multi, option, (long)value);
}

static inline int64_t waybill_curl_integer(CURL *easy, CURLINFO info) {
  long value = 0;
  return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

static inline int64_t waybill_curl_size(CURL *easy, CURLINFO info) {
  curl_off_t value = 0;
  return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

static inline void *waybill_curl_private(CURL *easy) {
  char *value = NULL;
  return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value) == CURLE_OK ? value : NULL;
}

// Called with each socket before it connects.
static inline CURLcode waybill_curl_set_socket_watcher(
    CURL *easy, curl_sockopt_callback watcher) {
  return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, watcher);
}

#ifdef __linux__
// Bytes written to a socket that the other side has not acknowledged; -1 if the socket is not the
// one bound to that local port (any more).
static inline int64_t waybill_unacknowledged(int descriptor, int64_t port) {
  struct sockaddr_storage address = {0};
  socklen_t length = sizeof address;
  if (getsockname(descriptor, (struct sockaddr *)&address, &length) != 0) return -1;
  in_port_t bound = 0;
  if (address.ss_family == AF_INET) bound = ((struct sockaddr_in *)&address)->sin_port;
  if (address.ss_family == AF_INET6) bound = ((struct sockaddr_in6 *)&address)->sin6_port;
  if (bound == 0 || ntohs(bound) != port) return -1;
  int bytes = 0;
  return ioctl(descriptor, SIOCOUTQ, &bytes) == 0 ? bytes : -1;
}
#endif
