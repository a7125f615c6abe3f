// expect-exit: 0
// cflags: -Wpedantic
//
// A correct program uses every function of include/safecopy.h, before CUDA and after: the answers
// are the same with the library and without it.
#include "survival.h"

#include "include/safecopy.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>

static void show_counts(const char *when)
{
    struct safecopy_counts counts;
    memset(&counts, 0xff, sizeof counts);
    uint64_t hazards = safecopy_get_counts(&counts, offsetof(struct safecopy_counts, operations));
    printf("%s: %d hazards, %d observed, %d latent, %d suppressed, the rest %s\n", when,
           (int)hazards, (int)counts.observed, (int)counts.latent, (int)counts.suppressed,
           counts.operations + 1 == 0 ? "kept" : "written");
}

static void say_all(void)
{
    char label[2 * SAFECOPY_LABEL_SIZE];
    static char memory[64 << 10];
    memset(label, 'x', sizeof label - 1);
    label[sizeof label - 1] = '\0';
    errno = 4242;
    safecopy_set_label(label);
    safecopy_set_thread_label("thread");
    safecopy_ignore_end();
    safecopy_ignore_begin("reason");
    safecopy_ignore_begin(NULL);
    safecopy_ignore_end();
    safecopy_ignore_end();
    safecopy_dump();
    safecopy_get_memory(memory, sizeof memory);
    safecopy_get_memory(memory, 0);
    safecopy_set_pool("program", 0, 2, 1, "drop_pool()");
    safecopy_set_pool(NULL, -1, 1, 1, NULL);
    safecopy_release();
    safecopy_set_label(NULL);
    safecopy_set_thread_label("");
    printf("errno %s\n", errno == 4242 ? "kept" : "changed");
}

static void *begin_thread(void *argument)
{
    safecopy_set_thread_label("of a thread that ends");
    return argument;
}

static void run_threads(void)
{
    for (unsigned i = 0; i < 100; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, begin_thread, NULL));
        CHECK(pthread_join(thread, NULL));
    }
}

static void run_child(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        show_counts("child");
        say_all();
        fflush(stdout);
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    printf("child ended with %d\n", status);
}

static ucontext_t program, coroutine;
static int version;

static void ask(void)
{
    version = safecopy_version();
}

/* Who asks may have little stack, as a coroutine has. Below it lies a page that faults. */
static void ask_with_little_stack(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), stack = 2 * 4096;
    char *pages = mmap(NULL, page + stack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages == MAP_FAILED || mprotect(pages + page, stack, PROT_READ | PROT_WRITE));
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = pages + page;
    coroutine.uc_stack.ss_size = stack;
    coroutine.uc_link = &program;
    makecontext(&coroutine, ask, 0);
    swapcontext(&program, &coroutine);
    printf("with little stack: %s\n", version == safecopy_version() ? "the same" : "another");
}

int main(void)
{
    char path[4096] = "?";
    printf("watching before: %d\n", safecopy_is_watching());
    printf("report before: %zu '%s'\n", safecopy_get_report_path(path, sizeof path), path);
    show_counts("before");
    say_all();
    safecopy_version(); /* looks the function up */
    ask_with_little_stack();
    use_cuda("main");
    show_counts("after");
    say_all();
    run_threads();
    run_child();
    printf("version fits: %d\n", safecopy_version() == 0 || safecopy_version() == SAFECOPY_VERSION);
    return 0;
}
