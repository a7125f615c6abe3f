/* probe_pages: what the driver does with memory in flight whose pages the program loses.
 *
 *     gcc -std=gnu11 -O2 -pthread -I/usr/local/cuda/include tests/gpu/probes/probe_pages.c \
 *         tests/gpu/asking.c -o probe_pages -ldl -lcuda
 *     ./probe_pages              every question
 *     ./probe_pages remove       these only
 *
 * A host function holds the stream for 150 ms, a copy of 4 MB is issued behind it, and the call is
 * made. What the program then sees where its memory is now is told first. For a copy to the device
 * it is written there next, and what the device has in the end is told: 1 is what the source held
 * at the issue, 2 what was written after the call, 0 is a new page. For a copy from the device,
 * which has 7, what the memory has in the end. Pageable memory is that of a batch with access order
 * ANY.
 */
#include "../asking.h"

#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

enum { PAGES_BYTES = 4 << 20, HELD_MS = 150, GUARD_INSTALL = 102, GUARD_REMOVE = 103 };

#ifndef MADV_COLD
#define MADV_COLD 20
#define MADV_PAGEOUT 21
#endif

static unsigned char *other_attach; /* of the same segment */
static CUstream stream;
static CUdeviceptr on_device;

/* ---- the calls: each returns where the memory is now ---- */

static unsigned char *advise(unsigned char *at, int advice)
{
    if (madvise(at, PAGES_BYTES, advice) != 0)
        say(" (refused)");
    return at;
}

static unsigned char *dontneed(unsigned char *at)
{
    return advise(at, MADV_DONTNEED);
}

static unsigned char *lazily_free(unsigned char *at)
{
    return advise(at, MADV_FREE);
}

static unsigned char *punch(unsigned char *at)
{
    return advise(at, MADV_REMOVE);
}

static unsigned char *page_out(unsigned char *at)
{
    return advise(advise(at, MADV_COLD), MADV_PAGEOUT);
}

static unsigned char *guard_pages(unsigned char *at)
{
    return advise(advise(at, GUARD_INSTALL), GUARD_REMOVE);
}

static unsigned char *moved(unsigned char *at, size_t size_bytes, int flags, void *to)
{
    void *now = mremap(at, PAGES_BYTES, size_bytes, flags, to);
    return now != MAP_FAILED ? now : at;
}

static unsigned char *move(unsigned char *at)
{
    return moved(at, PAGES_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, map_pages(PAGES_BYTES));
}

static unsigned char *move_away(unsigned char *at)
{
    return moved(at, PAGES_BYTES, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
}

static unsigned char *grow(unsigned char *at)
{
    unsigned char *now = moved(at, 64 * (size_t)PAGES_BYTES, MREMAP_MAYMOVE, NULL);
    say(now == at ? " (did not move)" : " (moved)");
    return now;
}

static unsigned char *detach(unsigned char *at)
{
    shmdt(at);
    return other_attach;
}

static unsigned char *forbid(unsigned char *at)
{
    mprotect(at, PAGES_BYTES, PROT_NONE);
    sleep_ms(2 * HELD_MS);
    mprotect(at, PAGES_BYTES, PROT_READ | PROT_WRITE);
    return at;
}

static const struct loss {
    const char *name;
    int flags; /* of the mapping; 0: a System V segment */
    unsigned char *(*lose)(unsigned char *at);
} losses[] = {
    {"dontneed", MAP_PRIVATE, dontneed},    {"dontneed-shared", MAP_SHARED, dontneed},
    {"free", MAP_PRIVATE, lazily_free},     {"remove", MAP_SHARED, punch},
    {"cold", MAP_PRIVATE, page_out},        {"guard", MAP_PRIVATE, guard_pages},
    {"mremap", MAP_PRIVATE, move},          {"mremap-dontunmap", MAP_PRIVATE, move_away},
    {"mremap-grow", MAP_PRIVATE, grow},     {"shmdt", 0, detach},
    {"mprotect-none", MAP_PRIVATE, forbid},
};

/* ---- the copies ---- */

static unsigned char *new_memory(int flags)
{
    if (flags != 0) {
        void *at = mmap(NULL, PAGES_BYTES, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
        return at != MAP_FAILED ? at : NULL;
    }
    int segment = shmget(IPC_PRIVATE, PAGES_BYTES, IPC_CREAT | 0600);
    unsigned char *at = shmat(segment, NULL, 0);
    other_attach = shmat(segment, NULL, 0);
    shmctl(segment, IPC_RMID, NULL);
    return at;
}

static void issue_late(CUdeviceptr to, CUdeviceptr from)
{
    size_t size_bytes = PAGES_BYTES;
    size_t first = 0;
    CUmemcpyAttributes order;

    memset(&order, 0, sizeof order);
    order.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
    TRY(cuMemcpyBatchAsync(&to, &from, &size_bytes, 1, &order, &first, 1, stream));
}

static void say_ends(const char *who, const unsigned char *bytes)
{
    say(" %s %d %d", who, bytes[0], bytes[PAGES_BYTES - 1]);
}

static void copy_and_lose(const struct loss *loss, bool registered, bool up)
{
    unsigned char *memory = new_memory(loss->flags);
    unsigned char *image = map_pages(PAGES_BYTES);

    say("%s, %s, %s:", loss->name, registered ? "registered" : "pageable",
        up ? "to the device" : "from the device");
    if (!memory || !image)
        return;
    memset(image, 7, PAGES_BYTES);
    TRY(cuMemcpyHtoD(on_device, image, PAGES_BYTES));
    memset(memory, 1, PAGES_BYTES);
    if (registered)
        TRY(cuMemHostRegister(memory, PAGES_BYTES, 0));
    TRY(cuLaunchHostFunc(stream, sleeper, (void *)(uintptr_t)HELD_MS));
    if (!registered)
        issue_late(up ? on_device : uva(memory), up ? uva(memory) : on_device);
    else if (up)
        TRY(cuMemcpyHtoDAsync(on_device, memory, PAGES_BYTES, stream));
    else
        TRY(cuMemcpyDtoHAsync(memory, on_device, PAGES_BYTES, stream));
    unsigned char *now = loss->lose(memory);
    say_ends("after the call", now);
    if (up)
        memset(now, 2, PAGES_BYTES);
    TRY(cuStreamSynchronize(stream));
    TRY(cuMemcpyDtoH(image, on_device, PAGES_BYTES));
    say_ends(up ? "; the device has" : "; the memory has", up ? image : now);
    if (registered)
        TRY(cuMemHostUnregister(memory));
    end_line();
}

static void ask(void)
{
    for (size_t i = 0; i < COUNT(losses); i++)
        for (unsigned part = 0; part < 4 && strcmp(losses[i].name, asked()) == 0; part++)
            if (begin_part(part + 1))
                copy_and_lose(&losses[i], part < 2, part % 2 == 0);
}

static CUresult set_up(void)
{
    CUresult rc = enter_primary();

    if (rc == CUDA_SUCCESS)
        rc = TRY(cuMemAlloc(&on_device, PAGES_BYTES));
    stream = rc == CUDA_SUCCESS ? new_stream(CU_STREAM_NON_BLOCKING) : NULL;
    return rc;
}

static struct question questions[COUNT(losses)];

int main(int argc, char **argv)
{
    for (size_t i = 0; i < COUNT(losses); i++)
        questions[i] = (struct question){.name = losses[i].name, .ask = ask};
    return ask_all(
        &(struct inquiry){
            .program = "probe_pages",
            .questions = questions,
            .count = COUNT(questions),
            .set_up = set_up,
            .question_s = 30,
        },
        argc, argv);
}
