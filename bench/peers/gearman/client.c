// A Gearman client that keeps a number of jobs in flight on one connection. It speaks the protocol itself: libgearman's
// client cannot begin a job while it waits for others, and this gives Gearman its best figures.
//   client PORT FUNCTION IN_FLIGHT SECONDS MOST [PAYLOAD]
// Prints a line of JSON. With IN_FLIGHT 0: idle, one at a time with a pause, and the time of each call is put after the
// payload; answers of `receive` are read as when the worker got the job, and their latencies are printed.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
  kSubmitJob = 7,
  kWorkComplete = 13,
  kWorkFail = 14,
  kWorkData = 28,
  kMostLatencies = 100000,
  kIdlePauseNs = 5000000
};

static long long mono_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void die(const char* what) {
  perror(what);
  exit(1);
}

static char outgoing[1 << 20];
static size_t outgoing_size;

static void flush_out(int server) {
  for (size_t at = 0; at < outgoing_size;) {
    const ssize_t n = write(server, outgoing + at, outgoing_size - at);
    if (n <= 0) die("write");
    at += (size_t)n;
  }
  outgoing_size = 0;
}

static void submit(const char* function, const char* payload) {
  const size_t name = strlen(function) + 1;
  const size_t size = name + 1 + strlen(payload);  // name, an empty unique id, payload
  char* to = outgoing + outgoing_size;
  const uint32_t header[2] = {htonl(kSubmitJob), htonl((uint32_t)size)};
  memcpy(to, "\0REQ", 4);
  memcpy(to + 4, header, 8);
  memcpy(to + 12, function, name);
  to[12 + name] = 0;
  memcpy(to + 13 + name, payload, strlen(payload));
  outgoing_size += 12 + size;
}

static int connect_to(int port) {
  const int server = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(server, (struct sockaddr*)&address, sizeof address) != 0) die("connect");
  const int yes = 1;
  setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return server;
}

static long long completed, failed, latencies[kMostLatencies], latency_count, asked_at;

// Handles whole packets in the buffer; answers with how many bytes it used.
static size_t take(const char* data, size_t size) {
  size_t at = 0;
  while (size - at >= 12) {
    uint32_t type, length;
    memcpy(&type, data + at + 4, 4);
    memcpy(&length, data + at + 8, 4);
    type = ntohl(type);
    length = ntohl(length);
    if (size - at < 12 + (size_t)length) break;
    if (type == kWorkComplete) ++completed;
    if (type == kWorkFail) ++failed;
    if (type == kWorkData && latency_count < kMostLatencies) {
      const char* body = data + at + 12;
      const size_t handle = strlen(body) + 1;
      char text[32] = {0};
      memcpy(text, body + handle, length - handle < 31 ? length - handle : 31);
      latencies[latency_count++] = atoll(text) - asked_at;
    }
    at += 12 + length;
  }
  return at;
}

static int by_size(const void* a, const void* b) {
  const long long x = *(const long long*)a, y = *(const long long*)b;
  return x < y ? -1 : x > y;
}

static void print_latencies(void) {
  if (latency_count == 0) return;
  qsort(latencies, (size_t)latency_count, sizeof latencies[0], by_size);
  printf(", \"p50_ms\": %.4f, \"p99_ms\": %.4f, \"curve_ms\": [", (double)latencies[(latency_count - 1) / 2] / 1e6,
         (double)latencies[(latency_count - 1) * 99 / 100] / 1e6);
  for (int i = 0; i <= 100; ++i)
    printf("%s%.4f", i ? ", " : "", (double)latencies[(latency_count - 1) * i / 100] / 1e6);
  printf("]");
}

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  const char* function = argv[2];
  const long long in_flight = atoll(argv[3]), most = atoll(argv[5]);
  const int server = connect_to(atoi(argv[1]));
  const char* payload = argc > 6 ? argv[6] : "";
  static char incoming[1 << 20];
  size_t held = 0;
  long long begun = 0;
  const long long began = mono_ns();
  const long long until = began + (long long)(1e9 * atof(argv[4]));
  for (;;) {
    const int over = mono_ns() >= until || begun >= most;
    const long long ended = completed + failed;
    if (over && ended == begun) break;
    if (!over && in_flight == 0 && ended == begun) {
      const struct timespec pause = {0, kIdlePauseNs};
      nanosleep(&pause, NULL);
      char text[600];
      asked_at = mono_ns();
      snprintf(text, sizeof text, "%s%s%lld", payload, *payload ? " " : "", asked_at);
      submit(function, text);
      ++begun;
    }
    while (!over && begun - ended < in_flight && begun < most && outgoing_size + 1000 < sizeof outgoing) {
      submit(function, payload);
      ++begun;
    }
    flush_out(server);
    const ssize_t n = read(server, incoming + held, sizeof incoming - held);
    if (n <= 0) die("read");
    held += (size_t)n;
    const size_t used = take(incoming, held);
    memmove(incoming, incoming + used, held - used);
    held -= used;
  }
  const double seconds = (double)(mono_ns() - began) / 1e9;
  printf("{\"per_s\": %.1f, \"count\": %lld, \"failed\": %lld, \"seconds\": %.3f", (double)completed / seconds,
         completed, failed, seconds);
  print_latencies();
  printf("}\n");
  return failed == 0 ? 0 : 1;
}
