// expect: SC104 action=stalled kind=stack certainty=observed event=end-of-thread
// not-by: threads
//
// pthread_exit, out of a destructor of the program's that makes the copy when the thread has ended
// already: the target, a single word of a local, is another thread's by the time it is written.
#include "late_copy.h"

#include <pthread.h>

static pthread_key_t key;
static cudaStream_t stream;
static void *device;

static __attribute__((noinline)) void fetch(void *word)
{
    late_copy(word, device, sizeof(int), stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
}

static void late_destructor(void *unused)
{
    int word = 0;
    (void)unused;
    fetch(&word);
}

static void *run(void *argument)
{
    CHECK(pthread_setspecific(key, argument));
    pthread_exit(NULL);
}

static void *work(void *argument)
{
    volatile unsigned char locals[1 << 20];
    for (size_t i = 0; i < sizeof locals; i++)
        locals[i] = 1;
    CHECK(cudaDeviceSynchronize());
    for (size_t i = 0; i < sizeof locals; i++)
        *(bool *)argument &= locals[i] == 1;
    return NULL;
}

static void run_thread(void *(*start)(void *), void *argument)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, start, argument));
    CHECK(pthread_join(thread, NULL));
}

int main(void)
{
    bool right = true;
    CHECK(pthread_key_create(&key, late_destructor));
    stream = new_stream();
    device = device_block(SMALL, WANTED);
    busy(stream);
    run_thread(run, &right);
    run_thread(work, &right);
    return finish(right);
}
