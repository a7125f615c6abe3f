/*
 * workers: threads with a stream and two pinned buffers each that fill, upload, launch, download,
 * synchronise and read, as a server's do. A figure is a thread's step in us, the median over the
 * threads.
 *
 *     workers [--quick] [--list] [--memory=KIND] [THREADS_SIZE...]
 *
 * KIND is where the buffers lie: `pinned`, which is the library's or the driver's (pinned=driver);
 * or memory that each worker maps and registers, `shared`, `memfd` (a file in memory) or `private`.
 *
 * A wrong byte ends the program with status 3. Where kernels do not run, as on the simulated GPU,
 * the download has what was uploaded.
 */
#include "tests/bench/choice.h"
#include "tests/bench/driver.h"
#include "tests/bench/measure.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
    THREADS_MOST = 16,
    KB = 1024,
    BLOCK_THREADS = 256,
    WARM_UP = 50,
    STEPS_AT_A_TIME = 20,
    RUN_MS = 1000,
    QUICK_RUN_MS = 200,
    WRONG_BYTE = 3,
};

static const struct crew {
    const char *name;
    unsigned threads;
    size_t bytes;
} crews[] = {
    {"workers_1_4k", 1, 4 * KB},     {"workers_1_64k", 1, 64 * KB},
    {"workers_4_64k", 4, 64 * KB},   {"workers_16_4k", 16, 4 * KB},
    {"workers_16_64k", 16, 64 * KB}, {"workers_16_256k", 16, 256 * KB},
};

/* Adds 1 to each of `count` bytes. */
static const char adding_ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry add_one(.param .u64 bytes, .param .u32 count)\n{\n"
    "    .reg .pred %p<2>;\n    .reg .b16 %h<3>;\n    .reg .b32 %r<6>;\n    .reg .b64 %d<5>;\n"
    "    mov.u32 %r1, %ctaid.x;\n    mov.u32 %r2, %ntid.x;\n    mov.u32 %r3, %tid.x;\n"
    "    mad.lo.s32 %r4, %r1, %r2, %r3;\n    ld.param.u32 %r5, [count];\n"
    "    setp.ge.s32 %p1, %r4, %r5;\n    @%p1 bra done;\n"
    "    ld.param.u64 %d1, [bytes];\n    cvta.to.global.u64 %d2, %d1;\n"
    "    cvt.s64.s32 %d3, %r4;\n    add.s64 %d4, %d2, %d3;\n"
    "    ld.global.u8 %h1, [%d4];\n    add.s16 %h2, %h1, 1;\n    st.global.u8 [%d4], %h2;\n"
    "done:\n    ret;\n}\n";

static CUfunction adding;
static unsigned char added; /* what the kernel adds: 0 where kernels do not run */
static unsigned run_ms = RUN_MS;
static const char *memory = "pinned";

struct worker {
    const struct crew *crew;
    pthread_barrier_t *start;
    pthread_t thread;
    CUstream stream;
    unsigned char *up, *down;
    CUdeviceptr device;
    double us;
};

/* Returns what the kernel has added to what was uploaded. */
static unsigned char step(struct worker *worker, unsigned i)
{
    size_t bytes = worker->crew->bytes;
    unsigned count = (unsigned)bytes;
    void *parameters[] = {&worker->device, &count};
    memset(worker->up, (int)i, bytes);
    MUST(driver.cuMemcpyHtoDAsync(worker->device, worker->up, bytes, worker->stream));
    MUST(driver.cuLaunchKernel(adding, (count + BLOCK_THREADS - 1) / BLOCK_THREADS, 1, 1,
                               BLOCK_THREADS, 1, 1, 0, worker->stream, parameters, NULL));
    MUST(driver.cuMemcpyDtoHAsync(worker->down, worker->device, bytes, worker->stream));
    MUST(driver.cuStreamSynchronize(worker->stream));
    if (worker->down[0] != worker->down[bytes - 1])
        exit(WRONG_BYTE);
    return (unsigned char)(worker->down[0] - i);
}

static void checked_step(struct worker *worker, unsigned i)
{
    if (step(worker, i) != added) {
        fprintf(stderr, "%s: step %u has a wrong byte\n", worker->crew->name, i);
        exit(WRONG_BYTE);
    }
}

static bool is_memory(const char *kind)
{
    return strcmp(memory, kind) == 0;
}

/* Maps and registers memory of the kind that was asked for. */
static unsigned char *registered(size_t bytes)
{
    int file = is_memory("memfd") ? memfd_create("workers", MFD_CLOEXEC) : -1;
    int flags = is_memory("private") ? MAP_PRIVATE : MAP_SHARED;
    if (file >= 0 && ftruncate(file, (off_t)bytes) != 0)
        abort();
    void *mapped =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | (file < 0 ? MAP_ANONYMOUS : 0), file, 0);
    if (mapped == MAP_FAILED)
        abort();
    if (file >= 0)
        close(file);
    MUST(driver.cuMemHostRegister(mapped, bytes, 0));
    return mapped;
}

static unsigned char *make_buffer(size_t bytes)
{
    return is_memory("pinned") ? driver_pinned(bytes) : registered(bytes);
}

static void free_buffer(unsigned char *buffer, size_t bytes)
{
    if (is_memory("pinned")) {
        MUST(driver.cuMemFreeHost(buffer));
        return;
    }
    MUST(driver.cuMemHostUnregister(buffer));
    munmap(buffer, bytes);
}

static void make_buffers(struct worker *worker)
{
    worker->stream = driver_stream();
    worker->up = make_buffer(worker->crew->bytes);
    worker->down = make_buffer(worker->crew->bytes);
    worker->device = driver_device(worker->crew->bytes);
}

static void free_buffers(struct worker *worker)
{
    free_buffer(worker->up, worker->crew->bytes);
    free_buffer(worker->down, worker->crew->bytes);
    MUST(driver.cuMemFree(worker->device));
    MUST(driver.cuStreamDestroy(worker->stream));
}

static void *work(void *arg)
{
    struct worker *worker = arg;
    unsigned i = 0;
    MUST(driver.cuCtxSetCurrent(driver.primary));
    make_buffers(worker);
    while (i < WARM_UP)
        checked_step(worker, i++);
    pthread_barrier_wait(worker->start);
    uint64_t begin_ns = now_ns(), took_ns;
    i = 0;
    do {
        for (unsigned n = 0; n < STEPS_AT_A_TIME; n++)
            checked_step(worker, i++);
        took_ns = now_ns() - begin_ns;
    } while (took_ns < (uint64_t)run_ms * 1000000U);
    worker->us = (double)took_ns / 1e3 / i;
    pthread_barrier_wait(worker->start); /* nobody frees while another thread is timed */
    free_buffers(worker);
    return NULL;
}

static void run_crew(const struct crew *crew)
{
    struct worker workers[THREADS_MOST];
    double us[THREADS_MOST];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, crew->threads);
    for (unsigned t = 0; t < crew->threads; t++) {
        workers[t] = (struct worker){.crew = crew, .start = &start};
        if (pthread_create(&workers[t].thread, NULL, work, &workers[t]) != 0)
            abort();
    }
    for (unsigned t = 0; t < crew->threads; t++) {
        pthread_join(workers[t].thread, NULL);
        us[t] = workers[t].us;
    }
    pthread_barrier_destroy(&start);
    print_figure(crew->name, median(us, crew->threads), "us");
}

static void load_kernel(void)
{
    CUmodule module;
    struct worker first = {.crew = &crews[0]};
    if (driver.cuModuleLoadData(&module, adding_ptx) != CUDA_SUCCESS) {
        printf("# workers: this driver does not load PTX\n");
        exit(0);
    }
    MUST(driver.cuModuleGetFunction(&adding, module, "add_one"));
    make_buffers(&first);
    added = step(&first, 0);
    free_buffers(&first);
}

static const char *name_of(size_t i)
{
    return i < COUNT(crews) ? crews[i].name : NULL;
}

static void choose_memory(const char *kind)
{
    memory = kind;
    if (is_memory("pinned") || is_memory("shared") || is_memory("memfd") || is_memory("private"))
        return;
    fprintf(stderr, "workers: no such memory: %s\n", memory);
    exit(2);
}

int main(int argc, char **argv)
{
    int quick = 0, has_memory = 0;
    const struct option options[] = {{"quick", no_argument, &quick, 1},
                                     {"memory", required_argument, &has_memory, 1},
                                     CHOICE_LIST,
                                     {NULL, 0, NULL, 0}};
    struct choice choice = choose(argc, argv, options, name_of);

    if (quick)
        run_ms = QUICK_RUN_MS;
    if (has_memory)
        choose_memory(choice.value);
    driver_start();
    load_kernel();
    for (size_t i = 0; i < COUNT(crews); i++)
        if (is_chosen(&choice, crews[i].name))
            run_crew(&crews[i]);
    return 0;
}
