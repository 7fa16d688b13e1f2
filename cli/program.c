/* program.c - the main function of the command line's programs, and how one starts another. */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h> /* _NSGetExecutablePath */
#endif

#include "leave.h"
#include "output.h"
#include "report.h"
#include "trireme.h"

/* Reserves closed standard streams, so that no file opened later becomes one.  Writing to them
 * still fails. */
static void fill_closed_streams(void) {
  for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
    if (fcntl(file, F_GETFD) < 0 && errno == EBADF) (void)!open("/dev/null", O_RDONLY);
}

/* The words before a "--" contain --json: failures are then reported as JSON too, even those of the
 * command line itself. */
static bool asks_json(int argc, char **argv) {
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (!strcmp(argv[i], "--json")) return true;
  return false;
}

int program_main(int argc, char **argv, int (*run)(int argc, char **argv)) {
  fill_closed_streams();
  signal(SIGPIPE, SIG_IGN); /* a closed pipe or a full disk shall be a failed write, */
  signal(SIGXFSZ, SIG_IGN); /* with a message */
  output_setup();
  output_set_json(asks_json(argc, argv));
  return output_finish(report_print(run(argc - 1, argv + 1)));
}

/* ---- Signals ---- */

static int caught; /* the signal; the library's flag */

static void end_by(int number) {
  signal(number, SIG_DFL);
  raise(number);
}

static void catch_alarm(int number) { end_by(caught ? caught : number); }

static void catch_end(int number) {
  if (caught) end_by(number);
  caught = number;
  alarm(2);
}

void program_catch_signals(void) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction now;
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
    if (!sigaction(numbers[k], NULL, &now) && now.sa_handler == SIG_DFL) /* else nohup's */
      signal(numbers[k], catch_end);
  signal(SIGALRM, catch_alarm);
  (void)trs_set_cancel_flag(&caught);
}

int program_end(int code) {
  if (code == LEAVE_INTERRUPTED && caught) end_by(caught);
  return code;
}

/* ---- Other programs of the installation ---- */

#ifdef __APPLE__
void program_self(char *path, size_t size) {
  uint32_t room = (uint32_t)size;
  if (_NSGetExecutablePath(path, &room)) path[0] = 0;
}
#else
void program_self(char *path, size_t size) {
  ssize_t length = readlink("/proc/self/exe", path, size - 1);
  path[length > 0 ? length : 0] = 0;
}
#endif

void program_beside(char *path, size_t size, const char *name) {
  char self[1024];
  program_self(self, sizeof self);
  char *slash = strrchr(self, '/');
  if (slash) *slash = 0;
  if (slash)
    snprintf(path, size, "%s/%s", self, name);
  else
    *path = 0; /* never the current folder */
}

/* Where the program is; false: in neither folder, path being the first place. */
static bool find(char *path, size_t size, const char *name) {
  char below[256];
  snprintf(below, sizeof below, TRIREME_HELPERS_PATH "/%s", name);
  program_beside(path, size, below);
  if (!access(path, X_OK)) return true;
  program_beside(path, size, name);
  return !access(path, X_OK);
}

int program_become(const char *const words[]) {
  char path[1400];
  program_self(path, sizeof path);
  if (!*path)
    return leave(LEAVE_UNAVAILABLE, "unsupported", -1,
                 "cannot find the folder of this program, which has %s: /proc/self/exe does not "
                 "exist here",
                 words[0]);
  if (!find(path, sizeof path, words[0]))
    return leave(LEAVE_UNAVAILABLE, "unsupported", -1,
                 "there is no program %s, nor one in libexec/trireme: install all of Trireme (make "
                 "install), or "
                 "build the target %s",
                 path, words[0]);
  fflush(NULL);
  execv(path, (char *const *)words);
  return leave(LEAVE_UNAVAILABLE, "unsupported", -1, "%s cannot be started: %s", path,
               strerror(errno));
}

void program_call(const char *const words[]) {
  char path[1400];
  if (!find(path, sizeof path, words[0])) return;
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    execv(path, (char *const *)words);
    _exit(127);
  }
  if (child > 0) (void)waitpid(child, NULL, 0);
}
