// expect-exit: 0
// strict-says: data_is_limited
//
// A process whose data is limited (RLIMIT_DATA) uses up what the limit leaves while copies are in
// flight, and then touches what they copied. Protected pages do not count as data: where they were
// made so, they could not be written again.
#include "in_flight.h"

#include <sys/resource.h>

enum { SIZE = 8 << 20, ROOM = 64 << 20, PIECE = 200000, PIECES = 4000, SPARE = 20 };

/* What the kernel says of VmData. */
static size_t data_bytes(void)
{
    char line[256];
    unsigned long kb = 0;
    FILE *file = fopen("/proc/self/status", "r");
    CHECK(file == NULL);
    while (fgets(line, sizeof line, file) && sscanf(line, "VmData: %lu", &kb) != 1)
        ;
    fclose(file);
    return kb << 10;
}

int main(void)
{
    static void *pieces[PIECES];
    struct rlimit limit;
    unsigned char *source = (unsigned char *)malloc(SIZE);
    unsigned char *target = (unsigned char *)malloc(SIZE);
    void *device;
    cudaStream_t stream;
    int count = 0;
    CHECK(cudaHostRegister(source, SIZE, 0));
    CHECK(cudaHostRegister(target, SIZE, 0));
    CHECK(cudaMalloc(&device, SIZE));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    memset(source, 3, SIZE);
    memset(target, 1, SIZE);
    CHECK(cudaDeviceSynchronize());
    limit.rlim_cur = limit.rlim_max = data_bytes() + ROOM;
    CHECK(setrlimit(RLIMIT_DATA, &limit));

    hold_stream(stream);
    CHECK(cudaMemcpyAsync(device, source, SIZE, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(target, device, SIZE, cudaMemcpyDeviceToHost, stream));
    while (count < PIECES && (pieces[count] = malloc(PIECE)) != NULL)
        count++;
    int is_full = count < PIECES;
    for (int i = 0; i < SPARE && count > 0; i++)
        free(pieces[--count]); /* less than the copies' pages need */
    let_go();
    CHECK(cudaStreamSynchronize(stream));
    source[SIZE / 2]++;
    target[SIZE / 2]++;

    SHOW(is_full);
    SHOW(source[SIZE / 2]);
    SHOW(target[SIZE / 2]);
    while (count > 0)
        free(pieces[--count]);
    CHECK(cudaHostUnregister(source));
    CHECK(cudaHostUnregister(target));
    return 0;
}
