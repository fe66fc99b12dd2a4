// A Gearman worker: `threads` connections, each takes one job at a time.
//   worker PORT THREADS
// Functions: `noop` does nothing, `exec` starts /bin/true and waits for it, `stamp` starts the program that the job
// names
// ("PROGRAM FILE ASKED", see bench/stamp.c), `receive` answers with when it got the job.
#include <libgearman/gearman.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

extern char** environ;

static in_port_t port;

static gearman_return_t start(char* const argv[]) {
  pid_t pid = 0;
  int status = 0;
  if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) != 0) return GEARMAN_ERROR;
  return waitpid(pid, &status, 0) == pid && status == 0 ? GEARMAN_SUCCESS : GEARMAN_ERROR;
}

static gearman_return_t on_noop(gearman_job_st* job, void* context) {
  (void)job;
  (void)context;
  return GEARMAN_SUCCESS;
}

static gearman_return_t on_exec(gearman_job_st* job, void* context) {
  (void)job;
  (void)context;
  char* const argv[] = {"/bin/true", NULL};
  return start(argv);
}

static gearman_return_t on_stamp(gearman_job_st* job, void* context) {
  (void)context;
  char text[600];
  size_t size = gearman_job_workload_size(job);
  if (size >= sizeof text) return GEARMAN_ERROR;
  memcpy(text, gearman_job_workload(job), size);
  text[size] = 0;
  char* rest = text;
  char* argv[4] = {strtok_r(text, " ", &rest), strtok_r(NULL, " ", &rest), strtok_r(NULL, " ", &rest), NULL};
  return argv[2] != NULL ? start(argv) : GEARMAN_ERROR;
}

static gearman_return_t on_receive(gearman_job_st* job, void* context) {
  (void)context;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  char text[32];
  const int size = snprintf(text, sizeof text, "%lld", now.tv_sec * 1000000000LL + now.tv_nsec);
  return gearman_job_send_data(job, text, (size_t)size) == GEARMAN_SUCCESS ? GEARMAN_SUCCESS : GEARMAN_ERROR;
}

static void* work(void* unused) {
  gearman_worker_st* worker = gearman_worker_create(NULL);
  gearman_worker_add_server(worker, "127.0.0.1", port);
  gearman_worker_define_function(worker, "noop", 4, gearman_function_create(on_noop), 0, NULL);
  gearman_worker_define_function(worker, "exec", 4, gearman_function_create(on_exec), 0, NULL);
  gearman_worker_define_function(worker, "stamp", 5, gearman_function_create(on_stamp), 0, NULL);
  gearman_worker_define_function(worker, "receive", 7, gearman_function_create(on_receive), 0, NULL);
  while (gearman_worker_work(worker) == GEARMAN_SUCCESS) {
  }
  fprintf(stderr, "worker: %s\n", gearman_worker_error(worker));
  exit(1);
  return unused;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  port = (in_port_t)atoi(argv[1]);
  pthread_t last = 0;
  for (int i = 0; i < atoi(argv[2]); ++i) pthread_create(&last, NULL, work, NULL);
  printf("ready\n");
  fflush(stdout);
  return pthread_join(last, NULL);
}
