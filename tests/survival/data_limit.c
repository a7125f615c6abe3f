// expect-exit: 0
// timeout: 60
// strict-says: data_is_limited
// needs: kernel (RLIMIT_DATA)
//
// A process that may have so much memory of its own and no more (RLIMIT_DATA) uses all of it up
// while copies from and to registered heap memory wait. It may touch these when they are done,
// however the limit came: while they wait, or before.
#include "in_flight.h"

#include <sys/mman.h>
#include <sys/resource.h>

enum { BUFFER_BYTES = 32 << 20, ROOM_BYTES = 48 << 20, PIECE_BYTES = 128 << 10, PIECES = 1024 };

static unsigned char *buffers[2];
static unsigned char *device;
static cudaStream_t stream;
static atomic_bool started;

static void stay(void *unused)
{
    atomic_store(&started, true);
    stay_held(unused);
}

/* The function that holds the stream has its thread when memory runs out. */
static void issue(void)
{
    atomic_store(&started, false);
    atomic_store(&beside.held, true);
    CHECK(cudaLaunchHostFunc(stream, stay, NULL));
    while (!atomic_load(&started))
        usleep(100);
    CHECK(cudaMemcpyAsync(device, buffers[0], BUFFER_BYTES, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(buffers[1], device, BUFFER_BYTES, cudaMemcpyDeviceToHost, stream));
}

static rlim_t data_bytes(void)
{
    char line[200];
    unsigned long kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "VmData: %lu", &kilobytes);
    if (status)
        fclose(status);
    return (rlim_t)kilobytes << 10;
}

static void set_limit(rlim_t size_bytes)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_DATA, &limit));
    limit.rlim_cur = size_bytes;
    CHECK(setrlimit(RLIMIT_DATA, &limit));
}

static void *map_piece(void)
{
    return mmap(NULL, PIECE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void use_up(void)
{
    static void *pieces[PIECES];
    unsigned count = 0;
    while (count < PIECES && (pieces[count] = map_piece()) != MAP_FAILED)
        count++;
    let_go();
    CHECK(cudaStreamSynchronize(stream));
    buffers[0][BUFFER_BYTES / 2]++;
    SHOW(buffers[1][BUFFER_BYTES / 2]);
    SHOW(count > 0 && count < PIECES);
    while (count > 0)
        CHECK(munmap(pieces[--count], PIECE_BYTES));
}

int main(void)
{
    for (unsigned i = 0; i < 2; i++) {
        buffers[i] = (unsigned char *)malloc(BUFFER_BYTES);
        memset(buffers[i], 3, BUFFER_BYTES);
        CHECK(cudaHostRegister(buffers[i], BUFFER_BYTES, cudaHostRegisterDefault));
    }
    CHECK(cudaMalloc((void **)&device, BUFFER_BYTES));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    issue();
    let_go();
    CHECK(cudaStreamSynchronize(stream));
    rlim_t limit_bytes = data_bytes() + ROOM_BYTES;
    issue();
    set_limit(limit_bytes);
    use_up();
    issue();
    use_up();
    return 0;
}
