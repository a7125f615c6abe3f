// expect-exit: 0
//
// The program has all keys of threads' own data that there are, and labels its threads.
#include "survival.h"

#include "include/safecopy.h"

#include <pthread.h>

enum { SIZE = 4096, COPIES = 8 };

static void copy(void)
{
    void *device, *host;
    cudaStream_t stream;
    CHECK(cudaMalloc(&device, SIZE));
    CHECK(cudaMallocHost(&host, SIZE));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < COPIES; i++)
        CHECK(cudaMemcpyAsync(device, host, SIZE, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
}

static void *label_and_copy(void *label)
{
    safecopy_set_thread_label((const char *)label);
    copy();
    safecopy_ignore_begin("reason");
    safecopy_ignore_end();
    return label;
}

int main(void)
{
    static char labels[4][8] = {"first", "second", "third", "fourth"};
    pthread_key_t key;
    copy();
    while (pthread_key_create(&key, NULL) == 0)
        ;
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, label_and_copy, labels[i]);
        pthread_join(thread, NULL);
        puts(labels[i]);
    }
    return 0;
}
