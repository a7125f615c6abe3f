// expect-exit: 0
// needs: kernel (mremap)
//
// shmat and shmdt in all their forms and errors, while something else is in flight and registered.
#include "in_flight.h"

#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

enum { PAGE = 4096, SIZE = 16 * PAGE };

static void show(const char *what, bool failed)
{
    int why = errno;
    printf("%s: %s\n", what, failed ? strerrorname_np(why) : "good");
}

static bool attach(int segment, const void *address, int flags)
{
    return shmat(segment, address, flags) == (void *)-1;
}

static int attaches(int segment)
{
    struct shmid_ds about;
    return shmctl(segment, IPC_STAT, &about) == 0 ? (int)about.shm_nattch : -1;
}

static void errors(int segment)
{
    char *place = (char *)mmap(NULL, 2 * SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    show("shmdt of nothing", shmdt(place) != 0);
    show("shmdt NULL", shmdt(NULL) != 0);
    show("shmdt beyond", shmdt((void *)(UINTPTR_MAX - PAGE + 1)) != 0);
    show("shmat nothing", attach(-1, NULL, 0));
    show("shmat over something", attach(segment, place, 0));
    show("shmat unaligned", attach(segment, place + 1, SHM_REMAP));
    show("shmat remap nowhere", attach(segment, NULL, SHM_REMAP));
    show("shmat bad segment, remap", attach(-1, place, SHM_REMAP));
    show("shmat remap beyond", attach(segment, (void *)((uintptr_t)1 << 62), SHM_REMAP));
    show("munmap", munmap(place, 2 * SIZE) != 0);
}

static void life(int segment)
{
    char *first = (char *)shmat(segment, NULL, 0);
    char *second = (char *)shmat(segment, NULL, SHM_RDONLY);
    memset(first, 7, SIZE);
    SHOW(second[SIZE - 1]);
    SHOW(attaches(segment));
    show("shmdt unaligned", shmdt(first + 1) != 0);
    show("shmdt inside", shmdt(first + PAGE) != 0);
    show("shmdt", shmdt(first) != 0);
    show("shmdt again", shmdt(first) != 0);
    SHOW(attaches(segment));
    char *place =
        (char *)mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    SHOW(shmat(segment, place + PAGE + 5, SHM_REMAP | SHM_RND) == place + PAGE);
    SHOW(place[PAGE] == 7 && place[0] == 0);
    show("shmdt of the middle", shmdt(place + PAGE) != 0);
    SHOW(munmap(place, 2 * SIZE));
    SHOW(second[0]);
    show("shmdt read-only", shmdt(second) != 0);
    SHOW(attaches(segment));
}

/* A segment that moved, and one in pieces, are detached where they are. */
static void moved(int segment)
{
    char *first = (char *)shmat(segment, NULL, 0);
    first = (char *)mremap(first, SIZE, 2 * SIZE, MREMAP_MAYMOVE);
    first = (char *)mremap(first, 2 * SIZE, SIZE, 0);
    SHOW(munmap(first, PAGE));
    SHOW(mprotect(first + 4 * PAGE, PAGE, PROT_NONE));
    SHOW(munmap(first + 8 * PAGE, PAGE));
    SHOW(attaches(segment));
    show("shmdt of pieces", shmdt(first) != 0);
    SHOW(attaches(segment));
}

/* Registered, copied, unregistered and detached, over and over at the same place. */
static void with_device(int segment)
{
    void *device = NULL;
    bool right = true;
    CHECK(cudaMalloc(&device, SIZE));
    for (int i = 0; i < 20; i++) {
        char *place = (char *)shmat(segment, NULL, 0);
        char back[100];
        memset(place, i, SIZE);
        CHECK(cudaHostRegister(place, SIZE, cudaHostRegisterDefault));
        CHECK(cudaMemcpyAsync(device, place, SIZE, cudaMemcpyHostToDevice, NULL));
        CHECK(cudaStreamSynchronize(NULL));
        CHECK(cudaHostUnregister(place));
        CHECK(shmdt(place));
        CHECK(cudaMemcpy(back, device, sizeof back, cudaMemcpyDeviceToHost));
        right = right && back[0] == i && back[99] == i;
    }
    printf("copies: %s\n", right ? "right" : "wrong");
    CHECK(cudaFree(device));
}

int main(void)
{
    int segment = shmget(IPC_PRIVATE, SIZE - 10, IPC_CREAT | 0600);
    use_cuda("before");
    edge_start();
    hold();
    errors(segment);
    life(segment);
    moved(segment);
    release();
    with_device(segment);
    SHOW(attaches(segment));
    SHOW(shmctl(segment, IPC_RMID, NULL));
    return 0;
}
