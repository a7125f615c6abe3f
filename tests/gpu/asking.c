#include "asking.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- telling ---- */

/* Shared with the parent, which learns from it where a child died. A line is kept until it is
 * ended, so that nothing is written between the calls of a question. */
static struct progress {
    size_t question;
    unsigned part;
    size_t used; /* of the line; 0 between lines */
    char line[16 * 1024];
} * progress;

static void write_line(void)
{
    fwrite(progress->line, 1, progress->used, stdout);
    fflush(stdout);
    progress->used = 0;
}

void say(const char *format, ...)
{
    va_list args;

    flockfile(stdout);
    if (progress->used > sizeof progress->line / 2)
        write_line();
    size_t room = sizeof progress->line - progress->used;
    va_start(args, format);
    int wrote = vsnprintf(progress->line + progress->used, room, format, args);
    va_end(args);
    if (wrote > 0)
        progress->used += (size_t)wrote < room ? (size_t)wrote : room - 1;
    if (progress->used > 0 && progress->line[progress->used - 1] == '\n')
        write_line();
    funlockfile(stdout);
}

void end_line(void)
{
    say("\n");
}

CUresult check(const char *call, CUresult rc)
{
    if (rc != CUDA_SUCCESS)
        say(" {%.*s=%d}", (int)strcspn(call, "("), call, (int)rc);
    return rc;
}

const char *yes_no(bool yes)
{
    return yes ? "yes" : "no";
}

const char *size_text(size_t size_bytes)
{
    static char text[8][24];
    static unsigned turn;
    char *to = text[turn++ % COUNT(text)];

    if (size_bytes >= MB && size_bytes % MB == 0)
        snprintf(to, sizeof text[0], "%zuM", size_bytes / MB);
    else if (size_bytes >= KB && size_bytes % KB == 0)
        snprintf(to, sizeof text[0], "%zuK", size_bytes / KB);
    else
        snprintf(to, sizeof text[0], "%zu", size_bytes);
    return to;
}

/* ---- time ---- */

uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

double ms_since(uint64_t start_ns)
{
    return (double)(now_ns() - start_ns) / 1e6;
}

void sleep_ms(unsigned ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000L};

    nanosleep(&t, NULL);
}

int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* ---- asking ---- */

static const struct inquiry *inquiry;
static int wanted_count;
static char **wanted;
static uint64_t program_start_ns;
static unsigned parts_done; /* of the question, by children that died */

static const struct question *current(void)
{
    return &inquiry->questions[progress->question];
}

const char *asked(void)
{
    return current()->name;
}

bool begin_part(unsigned number)
{
    if (number <= parts_done)
        return false;
    progress->part = number;
    return true;
}

static unsigned seconds_left(void)
{
    uint64_t passed = (now_ns() - program_start_ns) / 1000000000U;

    if (inquiry->total_s == 0)
        return inquiry->question_s;
    return passed < inquiry->total_s ? (unsigned)(inquiry->total_s - passed) : 0;
}

static bool is_wanted(const struct question *q)
{
    for (int i = 0; i < wanted_count; i++)
        if (strcmp(wanted[i], q->name) == 0)
            return true;
    return wanted_count == 0;
}

/* The index of the next question that is wanted, at or behind `from`. */
static size_t next_wanted(size_t from)
{
    while (from < inquiry->count && !is_wanted(&inquiry->questions[from]))
        from++;
    return from;
}

static void begin_question(size_t index)
{
    unsigned left = seconds_left();

    progress->question = index;
    alarm(left > 0 && left < inquiry->question_s ? left : inquiry->question_s);
    if (current()->text)
        say("Q%s %s:", current()->name, current()->text);
}

static void answer_question(void)
{
    current()->ask();
    if (current()->text)
        end_line();
}

/* The life of a child. A shared one leaves off when its context is no longer of use. */
static void answer(void)
{
    begin_question(progress->question);
    if (inquiry->set_up && inquiry->set_up() != CUDA_SUCCESS) {
        say(" Q%s NOT ASKED\n", asked());
        _exit(0);
    }
    answer_question();
    while (inquiry->share_child && !current()->ends_context && seconds_left() > 0 &&
           cuCtxSynchronize() == CUDA_SUCCESS) {
        size_t next = next_wanted(progress->question + 1);
        if (next == inquiry->count)
            break;
        begin_question(next);
        answer_question();
    }
    _exit(0);
}

/* Ends the line of a child; false when that died. */
static bool account_for(int status)
{
    bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;

    if (WIFSIGNALED(status))
        say("%s DIED of signal %d%s", progress->used > 0 ? "" : "(between lines)", WTERMSIG(status),
            WTERMSIG(status) == SIGALRM ? " (too long)" : "");
    if (progress->used > 0)
        end_line();
    return well;
}

/* A child that died goes on behind the part it was at, as long as it gets anywhere. */
static void ask(size_t index)
{
    progress->question = index;
    progress->part = 0;
    do {
        int status = 0;
        parts_done = progress->part;
        pid_t child = fork();
        if (child == 0)
            answer();
        if (child < 0 || waitpid(child, &status, 0) != child || account_for(status))
            return;
    } while (progress->part > parts_done && seconds_left() > 0);
}

static void ask_section(size_t index)
{
    uint64_t start_ns = now_ns();

    say("\n==== %s\n", inquiry->questions[index].name);
    ask(index);
    if (!inquiry->untimed)
        say("(%.1f s)\n", ms_since(start_ns) / 1e3);
}

int ask_all(const struct inquiry *asked_for, int argc, char **argv)
{
    void *shared =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (shared == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    progress = shared;
    inquiry = asked_for;
    wanted = argv + 1;
    wanted_count = argc - 1;
    program_start_ns = now_ns();
    for (size_t i = next_wanted(0); i < inquiry->count; i = next_wanted(progress->question + 1)) {
        if (seconds_left() == 0) {
            say("out of time before Q%s\n", inquiry->questions[i].name);
            break;
        }
        (inquiry->in_sections ? ask_section : ask)(i);
    }
    if (!inquiry->untimed)
        say("%s done after %.1f s\n", inquiry->program, ms_since(program_start_ns) / 1e3);
    return 0;
}

/* ---- what the driver is asked with ---- */

CUdevice device;
CUcontext primary;

CUresult enter_primary(void)
{
    CUresult rc = TRY(cuInit(0));

    if (rc != CUDA_SUCCESS || (rc = TRY(cuDeviceGet(&device, 0))) != CUDA_SUCCESS)
        return rc;
    rc = TRY(cuDevicePrimaryCtxRetain(&primary, device));
    return rc != CUDA_SUCCESS ? rc : TRY(cuCtxSetCurrent(primary));
}

CUstream new_stream(unsigned flags)
{
    CUstream stream = NULL;
    TRY(cuStreamCreate(&stream, flags));
    return stream;
}

CUevent new_event(void)
{
    CUevent event = NULL;
    TRY(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

CUdeviceptr device_block(void)
{
    CUdeviceptr block = 0;
    TRY(cuMemAlloc(&block, BLOCK_BYTES));
    return block;
}

void *pinned_block(void)
{
    void *block = NULL;
    TRY(cuMemHostAlloc(&block, BLOCK_BYTES, 0));
    return block;
}

const char kernels_ptx[] = ".version 7.0\n"
                           ".target sm_52\n"
                           ".address_size 64\n"
                           ".visible .entry empty()\n"
                           "{\n"
                           "    ret;\n"
                           "}\n"
                           ".visible .entry spin(.param .u64 duration_ns)\n"
                           "{\n"
                           "    .reg .pred %more;\n"
                           "    .reg .u64 %limit, %begin, %now, %passed;\n"
                           "    ld.param.u64 %limit, [duration_ns];\n"
                           "    mov.u64 %begin, %globaltimer;\n"
                           "again:\n"
                           "    mov.u64 %now, %globaltimer;\n"
                           "    sub.u64 %passed, %now, %begin;\n"
                           "    setp.lt.u64 %more, %passed, %limit;\n"
                           "    @%more bra again;\n"
                           "    ret;\n"
                           "}\n";

CUfunction load_kernel(const char *name, CUmodule *module)
{
    CUfunction function = NULL;

    if (TRY(cuModuleLoadData(module, kernels_ptx)) == CUDA_SUCCESS)
        TRY(cuModuleGetFunction(&function, *module, name));
    return function;
}

CUresult launch(CUfunction empty_kernel, CUstream stream)
{
    return cuLaunchKernel(empty_kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

void launch_spin(CUfunction spin_kernel, CUstream stream, unsigned ms)
{
    uint64_t duration_ns = (uint64_t)ms * 1000000U;
    void *params[] = {&duration_ns};

    if (spin_kernel)
        TRY(cuLaunchKernel(spin_kernel, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
}

void CUDA_CB sleeper(void *ms)
{
    sleep_ms((unsigned)(uintptr_t)ms);
}

void CUDA_CB nothing(void *unused)
{
    (void)unused;
}

void settle(void)
{
    TRY(cuCtxSynchronize());
}

CUdeviceptr uva(const void *host)
{
    return (CUdeviceptr)(uintptr_t)host;
}

unsigned char *map_pages(size_t size_bytes)
{
    void *p = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    memset(p, 0, size_bytes);
    return p;
}

void unmap_pages(void *p, size_t size_bytes)
{
    if (p)
        munmap(p, size_bytes);
}

void *run_thread_call(void *thread_call)
{
    struct thread_call *tc = thread_call;

    if (tc->context)
        cuCtxSetCurrent(tc->context);
    tc->result = tc->call(tc->arg);
    return NULL;
}

CUresult on_other_thread(CUresult (*call)(void *), void *arg, CUcontext context)
{
    struct thread_call tc = {call, arg, context, CUDA_ERROR_UNKNOWN};
    pthread_t thread;

    if (pthread_create(&thread, NULL, run_thread_call, &tc) == 0)
        pthread_join(thread, NULL);
    return tc.result;
}

void *open_runtime(void)
{
    static const char *const places[] = {"libcudart.so.13", "out/cuda/lib/libcudart.so.13",
                                         "/usr/local/cuda/lib64/libcudart.so.13"};
    void *runtime = NULL;

    for (size_t i = 0; i < COUNT(places) && !runtime; i++)
        runtime = dlopen(places[i], RTLD_NOW);
    return runtime;
}
