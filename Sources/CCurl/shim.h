#pragma once
#include <curl/curl.h>
#include <stddef.h>
#include <stdint.h>

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
