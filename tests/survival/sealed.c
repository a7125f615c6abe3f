// expect-exit: 0
// timeout: 60
//
// Memory that is registered is sealed (mseal, Linux 6.10), so that its access cannot change any
// more: while copies from and to it wait, or before it is registered; all of it, or half. It may be
// touched as ever afterwards. (With an older kernel nothing is sealed.)
#include "in_flight.h"

#include <sys/mman.h>
#include <sys/syscall.h>

enum { PAGE = 4096, BUFFER_BYTES = 64 * PAGE, SEAL = 462, ROUNDS = 3 };
enum seal { IN_FLIGHT_ALL, IN_FLIGHT_FIRST, IN_FLIGHT_SECOND, BEFORE, BEFORE_SECOND, SEALS };

static unsigned char *device;
static cudaStream_t stream;

static void seal(unsigned char *buffer, enum seal when)
{
    bool is_half = when == IN_FLIGHT_FIRST || when == IN_FLIGHT_SECOND || when == BEFORE_SECOND;
    size_t from = when == IN_FLIGHT_SECOND || when == BEFORE_SECOND ? BUFFER_BYTES / 2 : 0;
    syscall(SEAL, buffer + from, is_half ? BUFFER_BYTES / 2 : BUFFER_BYTES, 0);
}

static void *map_buffer(void)
{
    return mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void copy(unsigned char *from, unsigned char *to, enum seal when, bool seals)
{
    hold_stream(stream);
    CHECK(cudaMemcpyAsync(device, from, BUFFER_BYTES, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(to, device, BUFFER_BYTES - PAGE, cudaMemcpyDeviceToHost, stream));
    if (seals && when != BEFORE && when != BEFORE_SECOND) {
        seal(from, when);
        seal(to, when);
    }
    to[BUFFER_BYTES - 1] = 1;
    let_go();
    CHECK(cudaStreamSynchronize(stream));
}

static void show(enum seal when)
{
    unsigned char *from = map_buffer();
    unsigned char *to = map_buffer();
    memset(from, 3, BUFFER_BYTES);
    if (when == BEFORE || when == BEFORE_SECOND) {
        seal(from, when);
        seal(to, when);
    }
    CHECK(cudaHostRegister(from, BUFFER_BYTES, cudaHostRegisterDefault));
    CHECK(cudaHostRegister(to, BUFFER_BYTES, cudaHostRegisterDefault));
    for (unsigned round = 0; round < ROUNDS; round++) {
        copy(from, to, when, round == 0);
        for (size_t at = 0; at < BUFFER_BYTES; at += PAGE)
            from[at]++;
        printf("%d: %d %d %d\n", when, to[0], to[BUFFER_BYTES / 2], to[BUFFER_BYTES - 1]);
        to[0] = to[BUFFER_BYTES / 2] = to[BUFFER_BYTES - 1] = 0;
    }
    CHECK(cudaHostUnregister(from));
    CHECK(cudaHostUnregister(to));
}

int main(void)
{
    CHECK(cudaMalloc((void **)&device, BUFFER_BYTES));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (enum seal when = IN_FLIGHT_ALL; when < SEALS; when++)
        show(when);
    return 0;
}
