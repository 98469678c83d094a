#pragma once

// What Swift's Glibc module leaves out of Linux.

#ifdef __linux__
#include <linux/fs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

// A socket that hears what the kernel tells some groups of a netlink family; -1 and errno when the
// system gives none.
static inline int waybill_netlink_listen(int family, uint32_t groups) {
  int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, family);
  if (descriptor < 0) return -1;
  struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
  if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
  close(descriptor);
  return -1;
}

// Declared here, since fcntl.h shows it to GNU sources only, and those see other types.
int sync_file_range(int descriptor, int64_t offset, int64_t count, unsigned int flags);

// Begins to write out what was written to a range of a file: sync_file_range(2).
static inline int waybill_begin_writing(int descriptor, int64_t offset, int64_t count) {
  return sync_file_range(descriptor, offset, count, SYNC_FILE_RANGE_WRITE);
}

// Links, addresses and routes: rtnetlink(7).
static inline int waybill_netlink_listen_routes(void) {
  return waybill_netlink_listen(
      NETLINK_ROUTE, RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE |
                         RTMGRP_IPV6_ROUTE);
}

// What the kernel itself tells of devices: group 1 of its uevents.
static inline int waybill_netlink_listen_devices(void) {
  return waybill_netlink_listen(NETLINK_KOBJECT_UEVENT, 1);
}
#endif
