/* How long allocation, protection and copies take. */
#include "world.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ROUNDS = 25 };

static double median(double *samples, unsigned count)
{
    qsort(samples, count, sizeof *samples, by_value);
    return samples[count / 2];
}

enum way { DRIVER, SHARED, TOUCH, UNTOUCHED_PAGES, POPULATE, POPULATE_SMALL, KEPT, WAYS };
static const char *const way_names[] = {"driver",        "shared huge", "huge+touch",  "huge",
                                        "huge+populate", "4K populate", "kept, zeroed"};

static void one_round(enum way way, size_t bytes, char *kept, double took[2])
{
    size_t mapped = whole_pages(bytes);
    char *at = NULL;
    double t0 = now_us();
    if (way == DRIVER) {
        cuMemAllocHost((void **)&at, bytes);
    } else if (way == KEPT) {
        memset(kept, 0, bytes);
    } else {
        if (way == SHARED)
            at = mapped <= 256 * KB ? map_as(mapped, MAP_SHARED) : map_shared_huge(mapped);
        else
            at = way == POPULATE_SMALL ? map_as(mapped, MAP_POPULATE) : map_huge(mapped);
        if (way == POPULATE)
            madvise(at, mapped, MADV_POPULATE_WRITE);
        for (size_t i = 0; way == TOUCH && i < mapped; i += 4096)
            at[i] = 0;
        CUresult rc = cuMemHostRegister(at, mapped, 3);
        if (rc)
            say("register: %d\n", (int)rc);
    }
    double t1 = now_us();
    if (way == DRIVER) {
        cuMemFreeHost(at);
    } else if (way != KEPT) {
        bool padded = way == SHARED && mapped > 256 * KB;
        cuMemHostUnregister(at);
        munmap(at, padded ? whole_huge(mapped) : mapped);
    }
    took[0] = t1 - t0;
    took[1] = now_us() - t1;
}

void section_times(void)
{
    const size_t all[] = {8,      4 * KB, 64 * KB, 256 * KB, 512 * KB, MB,
                          2 * MB, 4 * MB, 16 * MB, 64 * MB,  256 * MB};
    char *kept = map_huge(256 * MB);
    memset(kept, 1, 256 * MB);
    cuMemHostRegister(kept, 256 * MB, 3);
    say("median us of allocation + release\n%8s", "");
    for (unsigned way = 0; way < WAYS; way++)
        say(" %22s", way_names[way]);
    say("\n");
    for (unsigned s = 0; s < COUNT(all); s++) {
        say("%8s", size_text(all[s]));
        for (unsigned way = 0; way < WAYS; way++) {
            double makes[ROUNDS], frees[ROUNDS];
            unsigned rounds = all[s] > 16 * MB ? 7 : ROUNDS;
            for (unsigned i = 0; i < rounds; i++) {
                double took[2];
                one_round((enum way)way, all[s], kept, took);
                makes[i] = took[0];
                frees[i] = took[1];
            }
            say(" %11.1f + %8.1f", median(makes, rounds), median(frees, rounds));
        }
        say("\n");
    }
    void *live[1000];
    double begin = now_us();
    for (unsigned i = 0; i < COUNT(live); i++)
        cuMemAllocHost(&live[i], 8);
    double mid = now_us();
    for (unsigned i = 0; i < COUNT(live); i++)
        cuMemFreeHost(live[i]);
    say("1000 of 8 bytes alive at once: %.1f us each, freed %.1f us each\n", (mid - begin) / 1000,
        (now_us() - mid) / 1000);
    CUdeviceptr dev;
    CUcontext owner;
    int value;
    (void)dev;
    begin = now_us();
    for (unsigned i = 0; i < 100000; i++)
        cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, (uintptr_t)kept);
    mid = now_us();
    for (unsigned i = 0; i < 100000; i++)
        cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_IS_MANAGED, (uintptr_t)kept);
    say("cuPointerGetAttribute CONTEXT %.0f ns, IS_MANAGED %.0f ns\n", (mid - begin) / 100,
        (now_us() - mid) / 100);
}

static double pair_us(char *at, size_t bytes, int protection)
{
    double samples[ROUNDS];
    for (unsigned i = 0; i < ROUNDS; i++) {
        double begin = now_us();
        mprotect(at, bytes, protection);
        mprotect(at, bytes, PROT_READ | PROT_WRITE);
        samples[i] = now_us() - begin;
    }
    return median(samples, ROUNDS);
}

void section_mprotect(void)
{
    const size_t all[] = {4 * KB, 64 * KB, MB, 2 * MB, 16 * MB, 64 * MB};
    void *driver = NULL;
    cuMemAllocHost(&driver, 64 * MB);
    memset(driver, 1, 64 * MB);
    char *huge = map_huge(64 * MB), *small = map_as(64 * MB, 0), *split = map_huge(64 * MB);
    char *shared = map_shared_huge(64 * MB);
    memset(shared, 1, 64 * MB);
    cuMemHostRegister(shared, 64 * MB, 3);
    madvise(small, 64 * MB, MADV_NOHUGEPAGE);
    memset(huge, 1, 64 * MB);
    memset(small, 1, 64 * MB);
    memset(split, 1, 64 * MB);
    cuMemHostRegister(huge, 64 * MB, 3);
    cuMemHostRegister(small, 64 * MB, 3);
    cuMemHostRegister(split, 64 * MB, 3);
    for (size_t at = 64 * KB; at < 64 * MB; at += 2 * MB)
        pair_us(split + at, 4096, PROT_READ);
    say("median us of an mprotect pair, PROT_READ (PROT_NONE)\n%8s %18s %18s %18s %18s %18s\n", "",
        "driver", "shared huge", "huge", "huge, split", "4K pages");
    for (int i = (int)COUNT(all) - 1; i >= 0; i--) {
        say("%8s", size_text(all[i]));
        char *each[] = {driver, shared, huge, split, small};
        for (unsigned k = 0; k < COUNT(each); k++)
            say(" %8.1f (%7.1f)", pair_us(each[k], all[i], PROT_READ),
                pair_us(each[k], all[i], PROT_NONE));
        say("\n");
    }
    show_mapping("huge, afterwards", huge);
    say("64 MB of huge, in which 4 KB to 1 MB had been protected: %.1f\n",
        pair_us(huge, 64 * MB, PROT_READ));
    show_mapping("shared huge, afterwards", shared);
    memset(shared, 2, 64 * MB);
    show_mapping("shared huge, touched again", shared);
    say("64 MB of it: %.1f\n", pair_us(shared, 64 * MB, PROT_READ));
}

void section_bandwidth(void)
{
    CUdeviceptr dev = 0;
    CUstream stream;
    void *driver = NULL;
    char *huge = map_huge(64 * MB), *small = map_as(64 * MB, MAP_POPULATE);
    char *shared = map_shared_huge(64 * MB);
    cuMemAlloc(&dev, 64 * MB);
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    cuMemAllocHost(&driver, 64 * MB);
    memset(driver, 1, 64 * MB);
    memset(huge, 1, 64 * MB);
    cuMemHostRegister(huge, 64 * MB, 3);
    cuMemHostRegister(small, 64 * MB, 3);
    cuMemHostRegister(shared, 64 * MB, 3);
    struct {
        const char *name;
        char *at;
    } all[] = {{"driver", driver},
               {"huge registered", huge},
               {"4K registered", small},
               {"shared huge registered", shared}};
    for (unsigned k = 0; k < COUNT(all); k++) {
        double up[ROUNDS], down[ROUNDS], tiny[ROUNDS];
        for (unsigned i = 0; i < ROUNDS; i++) {
            double t0 = now_us();
            cuMemcpyHtoDAsync(dev, all[k].at, 64 * MB, stream);
            cuStreamSynchronize(stream);
            double t1 = now_us();
            cuMemcpyDtoHAsync(all[k].at, dev, 64 * MB, stream);
            cuStreamSynchronize(stream);
            double t2 = now_us();
            for (int n = 0; n < 100; n++)
                cuMemcpyHtoDAsync(dev, all[k].at, 4096, stream);
            double t3 = now_us();
            cuStreamSynchronize(stream);
            up[i] = t1 - t0;
            down[i] = t2 - t1;
            tiny[i] = (t3 - t2) * 10;
        }
        say("%s: 64 MB to the device %.0f us, back %.0f us; issue of 4 KB %.0f ns\n", all[k].name,
            median(up, ROUNDS), median(down, ROUNDS), median(tiny, ROUNDS));
    }
}
