#define _GNU_SOURCE 1
#include "report/command/doctor/captured.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_MAX = 64 * 1024 };

/* One end of a pipe, and what came through. */
struct stream {
    int fds[2];
    char *text;
    size_t length;
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Runs in the child: executes the program, with its output into the pipes. */
static __attribute__((noreturn)) void become(const char *path, char *const *argv,
                                             char *const *environment, const struct stream *streams)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(nothing, STDIN_FILENO);
    dup2(streams[0].fds[1], STDOUT_FILENO);
    dup2(streams[1].fds[1], STDERR_FILENO);
    execve(path, argv, environment);
    _exit(127);
}

/* Reads what has arrived from one stream. Returns false at its end. What does not fit is thrown
 * away, so that the writer need not wait. */
static bool take(struct stream *stream)
{
    char more[4096];
    ssize_t got = read(stream->fds[0], more, sizeof more);
    if (got <= 0)
        return got < 0 && (errno == EINTR || errno == EAGAIN);
    size_t room = TEXT_MAX - stream->length;
    size_t taken = (size_t)got < room ? (size_t)got : room;
    memcpy(stream->text + stream->length, more, taken);
    stream->length += taken;
    return true;
}

/* Waits a while for output and reads it; a stream that has ended is not waited for again. */
static void take_what_is_there(struct stream *streams, struct pollfd *waited, int wait_ms)
{
    if (poll(waited, 2, wait_ms) <= 0)
        return;
    for (int i = 0; i < 2; i++)
        if (waited[i].revents != 0 && !take(&streams[i]))
            waited[i].fd = -1;
}

/* Has the child ended? That is also assumed if it cannot be waited for, since something else has
 * done that. */
static bool has_ended(pid_t child, int *status)
{
    pid_t ended = waitpid(child, status, WNOHANG);
    return ended == child || (ended < 0 && errno != EINTR);
}

/* Reads the child's output until the child has ended; other processes that hold its streams may go
 * on. The child is killed once its time is over. */
static void attend(struct sc_captured *captured, struct stream *streams, pid_t child, int limit_ms)
{
    enum { LOOK_MS = 20 };
    struct pollfd waited[2] = {{.fd = streams[0].fds[0], .events = POLLIN},
                               {.fd = streams[1].fds[0], .events = POLLIN}};
    int64_t end_ms = now_ms() + limit_ms;
    while (!has_ended(child, &captured->wait_status)) {
        bool is_open = waited[0].fd >= 0 || waited[1].fd >= 0;
        if (!captured->is_late && now_ms() >= end_ms)
            captured->is_late = kill(child, SIGKILL) == 0;
        take_what_is_there(streams, waited, is_open ? LOOK_MS : 1);
    }
    for (size_t before = SIZE_MAX; before != streams[0].length + streams[1].length;) {
        before = streams[0].length + streams[1].length;
        take_what_is_there(streams, waited, 0);
    }
}

/* Makes a pipe, with both ends above the three files that the child gets, of which this process may
 * have none. */
static bool make_pipe(int *fds)
{
    if (pipe2(fds, O_CLOEXEC) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        int low = fds[i];
        if (low > STDERR_FILENO)
            continue;
        fds[i] = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(low);
    }
    return fds[0] >= 0 && fds[1] >= 0;
}

static void close_both(const int *fds)
{
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* Runs a program and reads its output, for a limited time. */
static void run(struct sc_captured *captured, struct stream *streams, const char *path,
                char *const *argv, char *const *environment, int limit_ms)
{
    pid_t child = fork();
    if (child == 0)
        become(path, argv, environment, streams);
    for (int i = 0; i < 2; i++) {
        close(streams[i].fds[1]);
        streams[i].fds[1] = -1;
    }
    if (child < 0)
        return;
    attend(captured, streams, child, limit_ms);
}

/* Runs a program and reads what it writes, for a limited time. Sets SIGCHLD to its default
 * meanwhile: if it were ignored, the child's status would be lost. */
void sc_captured_run(struct sc_captured *captured, struct sc_scratch *scratch, const char *path,
                     char *const *argv, char *const *environment, int limit_ms)
{
    struct sigaction on_child;
    struct stream streams[2];
    *captured = (struct sc_captured){.output = "", .errors = "", .wait_status = -1};
    for (int i = 0; i < 2; i++)
        streams[i] = (struct stream){{-1, -1}, sc_scratch_take(scratch, TEXT_MAX + 1), 0};
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &on_child);
    if (make_pipe(streams[0].fds) && make_pipe(streams[1].fds))
        run(captured, streams, path, argv, environment, limit_ms);
    sigaction(SIGCHLD, &on_child, NULL);
    close_both(streams[0].fds);
    close_both(streams[1].fds);
    captured->output = streams[0].text;
    captured->errors = streams[1].text;
}
