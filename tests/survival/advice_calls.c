// expect-exit: 0
//
// madvise, posix_madvise and process_madvise with every advice there may be, and their errors,
// while something else is in flight, and on memory that is registered.
#include "in_flight.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

enum { PAGE = 4096, SIZE = 16 * PAGE };

extern __attribute__((weak)) ssize_t process_madvise(int process, const struct iovec *pieces,
                                                     size_t count, int advice, unsigned flags);

static void *pages(int flags)
{
    void *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);
    memset(at, 'a', SIZE);
    return at;
}

static void give(const char *what, void *address, size_t size_bytes, int advice)
{
    errno = 0;
    int result = madvise(address, size_bytes, advice);
    printf("%s, advice %d: %d %s\n", what, advice, result, result ? strerrorname_np(errno) : "");
}

/* Not those that make the machine forget memory, or merge it with others'. */
static void each_advice(const char *what, char *at)
{
    const int advices[] = {0,  1,  2,  3,  4,  8,  9,  10, 11,  14,  15, 16,  17,
                           18, 19, 20, 21, 22, 23, 24, 26, 102, 103, -1, 4711};
    for (size_t i = 0; i < sizeof advices / sizeof *advices; i++) {
        give(what, at, SIZE, advices[i]);
        if (advices[i] != 102)
            at[SIZE / 2] = 'b';
    }
    printf("%s: %d %d\n", what, at[0], at[SIZE - 1]);
}

static void errors(char *at)
{
    give("unaligned", at + 1, PAGE, MADV_DONTNEED);
    give("nothing", at, 0, MADV_DONTNEED);
    give("nothing, unaligned", at + 1, 0, MADV_DONTNEED);
    give("too much", at, SIZE_MAX, MADV_DONTNEED);
    give("nearly too much", at, SIZE_MAX - 100 * PAGE, MADV_DONTNEED);
    give("part of a page", at, 10, MADV_DONTNEED);
    CHECK(munmap(at + 4 * PAGE, PAGE));
    give("with a hole", at, SIZE, MADV_DONTNEED);
    SHOW(at[0]);
    SHOW(at[SIZE - 1]);
    CHECK(munmap(at, SIZE));
    at = (char *)PAGE; /* where nothing ever is, whatever other threads do */
    give("unmapped", at, SIZE, MADV_DONTNEED);
    give("NULL", NULL, PAGE, MADV_REMOVE);
    SHOW(posix_madvise(at, SIZE, POSIX_MADV_DONTNEED));
    SHOW(posix_madvise(at, SIZE, POSIX_MADV_WILLNEED));
}

static void locked(char *at)
{
    CHECK(mlock(at, SIZE));
    give("locked", at, SIZE, MADV_DONTNEED);
    give("locked", at, SIZE, 24);
    SHOW(at[0]);
    CHECK(munlock(at, SIZE));
}

static void process(char *at)
{
    int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
    struct iovec pieces[] = {{at, PAGE}, {at + 2 * PAGE, PAGE}, {at + SIZE, 0}};
    if (!process_madvise || self < 0)
        return;
    const int advices[] = {MADV_DONTNEED, 20, 21, MADV_FREE, 4711};
    for (size_t i = 0; i < sizeof advices / sizeof *advices; i++) {
        errno = 0;
        long result = process_madvise(self, pieces, 3, advices[i], 0);
        printf("process_madvise %d: %ld %s\n", advices[i], result,
               result == -1 ? strerrorname_np(errno) : "");
    }
    SHOW(at[0]);
    SHOW(at[PAGE]);
    errno = 0;
    SHOW(process_madvise(-1, pieces, 3, MADV_DONTNEED, 0));
    SHOW(process_madvise(0, pieces, 3, MADV_DONTNEED, 0));
    SHOW(process_madvise(self, pieces, 3, MADV_DONTNEED, 1));
    SHOW(process_madvise(self, NULL, 3, MADV_DONTNEED, 0));
    SHOW(process_madvise(self, pieces, 1 << 20, MADV_DONTNEED, 0));
    SHOW(process_madvise(self, pieces, 0, MADV_DONTNEED, 0));
    printf("%s\n", strerrorname_np(errno));
    close(self);
}

static void all(void)
{
    char *alone = (char *)pages(MAP_PRIVATE);
    char *shared = (char *)pages(MAP_SHARED);
    each_advice("private", alone);
    each_advice("shared", shared);
    locked(alone);
    process(alone);
    CHECK(munmap(shared, SIZE));
    errors(alone);
}

static void registered(int flags)
{
    char *at = (char *)pages(flags);
    CHECK(cudaHostRegister(at, SIZE, cudaHostRegisterDefault));
    each_advice("registered", at);
    CHECK(cudaHostUnregister(at));
    CHECK(munmap(at, SIZE));
}

int main(void)
{
    use_cuda("before");
    all();
    edge_start();
    hold();
    all();
    registered(MAP_PRIVATE);
    registered(MAP_SHARED);
    release();
    use_cuda("after");
    return 0;
}
