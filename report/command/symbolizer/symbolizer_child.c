#define _GNU_SOURCE 1
#include "report/command/symbolizer/symbolizer_child.h"

#include "report/command/descriptors.h"
#include "report/command/say.h"
#include "report/command/symbolizer/module_reader.h"
#include "report/command/symbolizer/symbol_answer.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_EVERY_US = 10000, SAYING_MAX_BYTES = 16 * 1024, TOGETHER_MAX_NS = 10000000 };

/* For handlers of signals, and for what is said from anywhere. */
static struct sc_symbolizer_notes *notes;
static int parent_fd, statm_fd;
static uint64_t taken_at_first;
static _Atomic uint64_t taken_bytes; /* since, when it was looked at last */

/* ---- the bound of memory ---- */

/* Reads a number, and the blank after it. */
static uint64_t take_number(const char **text)
{
    uint64_t number = 0;
    while (**text >= '0' && **text <= '9')
        number = 10 * number + (uint64_t)(*(*text)++ - '0');
    *text += **text == ' ';
    return number;
}

/* Returns how much memory this process has taken that is no page of a file: what is resident, less
 * what is a file's. Async-signal-safe. */
static uint64_t memory_taken(void)
{
    char line[128] = "";
    const char *text = line;
    if (pread(statm_fd, line, sizeof line - 1, 0) <= 0)
        return 0;
    take_number(&text);
    uint64_t resident = take_number(&text), of_files = take_number(&text);
    return resident > of_files ? (resident - of_files) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* Ends this process if it has taken too much memory. The process has a copy of its parent's memory,
 * which it did not take. */
static void end_if_full(int signal)
{
    uint64_t now = memory_taken();
    (void)signal;
    taken_bytes = now > taken_at_first ? now - taken_at_first : 0;
    if (taken_bytes <= SC_SYMBOLIZER_MEMORY_MAX)
        return;
    notes->is_full = true;
    _exit(1);
}

/* Arranges that this process ends when it takes too much memory. A timer of processor time checks
 * it, since filling memory takes that. Without /proc the Linux kernel limits the memory instead,
 * and then nobody learns why names are missing. */
static void bound_memory(void)
{
    struct sigaction action = {.sa_handler = end_if_full, .sa_flags = SA_RESTART};
    const struct itimerval often = {{0, LOOK_EVERY_US}, {0, LOOK_EVERY_US}};
    sigset_t timer;
    statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (statm_fd < 0) {
        const rlim_t bytes = SC_SYMBOLIZER_MEMORY_MAX / 2 * 3; /* the parent's among them */
        const struct rlimit most = {bytes, bytes};
        setrlimit(RLIMIT_DATA, &most);
        return;
    }
    taken_at_first = memory_taken();
    sigaction(SIGPROF, &action, NULL);
    sigemptyset(&timer);
    sigaddset(&timer, SIGPROF);
    sigprocmask(SIG_UNBLOCK, &timer, NULL);
    setitimer(ITIMER_PROF, &often, NULL);
}

/* ---- the process ---- */

/* Restricts this process: it ends with its parent and leaves no core. The limit of the core's size
 * is one byte, since with 0 the Linux kernel would still hand a core to a program. */
static void become(pid_t parent)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    setrlimit(RLIMIT_CORE, &(struct rlimit){1, 1});
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    sc_descriptors_close_but(parent_fd);
}

/* ---- what is sent ---- */

/* Sent together where they are small. */
static char waiting[64 * 1024];
static size_t waiting_size;

/* Sends bytes to the parent; if it is gone the child ends. */
static void send_bytes(const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t count = send(parent_fd, bytes, size, MSG_NOSIGNAL);
        if (count <= 0)
            _exit(1);
        bytes += count;
        size -= (size_t)count;
    }
}

/* Sends what was collected. */
static void flush_messages(void)
{
    send_bytes(waiting, waiting_size);
    waiting_size = 0;
}

/* Collects bytes to send, since many small messages would cost a system call each. */
static void add_bytes(const void *bytes, size_t size)
{
    if (size > sizeof waiting - waiting_size)
        flush_messages();
    if (size > sizeof waiting) {
        send_bytes(bytes, size);
        return;
    }
    memcpy(waiting + waiting_size, bytes, size);
    waiting_size += size;
}

/* Adds a message to the parent, with how much memory the child has taken. */
static void add_message(uint32_t kind, const char *bytes, size_t size)
{
    const struct sc_symbolizer_message message = {kind, (uint32_t)size, taken_bytes};
    add_bytes(&message, sizeof message);
    if (size > 0)
        add_bytes(bytes, size);
}

/* Sends the parent the text of a message for the user, up to a limit. */
static void send_saying(const char *text)
{
    static int count;
    if (count == SC_SYMBOLIZER_SAYINGS_MAX)
        return;
    count++;
    add_message(SC_MESSAGE_SAY, text, strnlen(text, SAYING_MAX_BYTES));
    flush_messages();
}

/* Adds the names and lines of an address as a message. */
static void add_answer(uint32_t kind, const struct sc_symbol_answer *answer)
{
    static char bytes[SC_SYMBOL_ANSWER_MAX];
    add_message(kind, bytes, sc_symbol_answer_put(bytes, answer));
}

/* ---- questions ---- */

/* Finds the source lines of an address. To do that for the first time takes much memory, and may
 * exceed the limit, which ends this process. So the name alone is sent before. */
static void find_places(struct sc_module_reader *reader, uint64_t offset,
                        struct sc_symbol_answer *answer)
{
    static bool had_lines;
    if (!had_lines) {
        add_answer(SC_MESSAGE_NAME_ALONE, answer);
        flush_messages();
    }
    notes->stage = SC_READS_LINES;
    answer->place_count = sc_module_reader_places(reader, offset, answer->places);
    if (!had_lines)
        end_if_full(0);
    had_lines = true;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Answers for one address after another. The first answer goes at once; for the others there may be
 * no time. */
static void answer_all(struct sc_module_reader *reader,
                       const struct sc_symbolizer_question *question)
{
    int64_t end_ns = now_ns() + TOGETHER_MAX_NS;
    for (uint32_t i = 0; i < question->count && (i == 0 || now_ns() < end_ns); i++) {
        uint64_t offset = question->offsets[i];
        struct sc_symbol_answer answer = {.name = sc_module_reader_name(reader, offset)};
        if (question->with_lines)
            find_places(reader, offset, &answer);
        add_answer(SC_MESSAGE_ANSWER, &answer);
        if (i == 0)
            flush_messages();
    }
    add_message(SC_MESSAGE_DONE, NULL, 0);
    flush_messages();
}

/* Runs the child: reads the module and answers what is asked, until the parent hangs up. */
void sc_symbolizer_child_run(const struct sc_module_sought *sought,
                             struct sc_symbolizer_notes *shared, int fd, pid_t parent)
{
    struct sc_symbolizer_question question;
    struct sc_module_reader *reader = NULL;
    notes = shared;
    parent_fd = fd;
    become(parent);
    bound_memory();
    sc_say_to(send_saying);
    sc_debuginfod_begin(&notes->servers);
    while (recv(fd, &question, sizeof question, MSG_WAITALL) == sizeof question) {
        notes->stage = SC_READS_NAMES;
        reader = reader ? reader : sc_module_reader_open(sought);
        if (!reader)
            break;
        answer_all(reader, &question);
    }
    if (!reader)
        add_message(SC_MESSAGE_NOTHING, NULL, 0);
    flush_messages();
    _exit(0);
}
