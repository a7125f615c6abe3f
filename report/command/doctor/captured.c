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

/* False at its end. What does not fit is thrown away, so that the writer need not wait. */
static bool take(struct stream *stream)
{
    char more[4096];
    ssize_t got = read(stream->fds[0], more, sizeof more);
    if (got <= 0)
        return got < 0 && errno == EINTR;
    size_t room = TEXT_MAX - stream->length;
    size_t taken = (size_t)got < room ? (size_t)got : room;
    memcpy(stream->text + stream->length, more, taken);
    stream->length += taken;
    return true;
}

/* Until both streams have ended. False when the time is over. */
static bool take_all(struct stream *streams, int limit_ms)
{
    struct pollfd waited[2] = {{.fd = streams[0].fds[0], .events = POLLIN},
                               {.fd = streams[1].fds[0], .events = POLLIN}};
    int64_t end_ms = now_ms() + limit_ms;
    while (waited[0].fd >= 0 || waited[1].fd >= 0) {
        int64_t left_ms = end_ms - now_ms();
        if (left_ms <= 0)
            return false;
        if (poll(waited, 2, (int)left_ms) <= 0)
            continue;
        for (int i = 0; i < 2; i++)
            if (waited[i].revents != 0 && !take(&streams[i]))
                waited[i].fd = -1;
    }
    return true;
}

static void close_both(const int *fds)
{
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* It has closed its streams, or its time is over: it ends now, or is made to. */
static int reap(pid_t child, bool is_late)
{
    int status = -1;
    if (is_late)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

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
    captured->is_late = !take_all(streams, limit_ms);
    captured->wait_status = reap(child, captured->is_late);
}

/* An ignored SIGCHLD would take the child's status away. */
void sc_captured_run(struct sc_captured *captured, struct sc_scratch *scratch, const char *path,
                     char *const *argv, char *const *environment, int limit_ms)
{
    struct sigaction on_child;
    struct stream streams[2];
    *captured = (struct sc_captured){.output = "", .errors = "", .wait_status = -1};
    for (int i = 0; i < 2; i++)
        streams[i] = (struct stream){{-1, -1}, sc_scratch_take(scratch, TEXT_MAX + 1), 0};
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &on_child);
    if (pipe2(streams[0].fds, O_CLOEXEC) == 0 && pipe2(streams[1].fds, O_CLOEXEC) == 0)
        run(captured, streams, path, argv, environment, limit_ms);
    sigaction(SIGCHLD, &on_child, NULL);
    close_both(streams[0].fds);
    close_both(streams[1].fds);
    captured->output = streams[0].text;
    captured->errors = streams[1].text;
}
