/* A second interposer: malloc, free and cuMemAlloc_v2 wrapped by way of dlsym(RTLD_NEXT). It counts
 * how deep its wrappers nest; more than once means that "next" led back to it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

int interposer_allocations(void);
int interposer_max_depth(void);
int interposer_found_driver(void);
int cuMemAlloc_v2(unsigned long long *device, size_t size);

static atomic_int allocations;
static atomic_int max_depth;
static __thread int depth __attribute__((tls_model("initial-exec")));

static void enter(void)
{
    int now = ++depth;
    if (now > atomic_load(&max_depth))
        atomic_store(&max_depth, now);
}

/* dlsym may allocate, so the first look-ups are served from here. */
static char early[4096] __attribute__((aligned(16)));
static size_t early_used;

void *malloc(size_t size)
{
    static void *(*next)(size_t);
    /* volatile: dlsym is declared a leaf, as if it could not lead back here. */
    static __thread volatile int looking __attribute__((tls_model("initial-exec")));
    if (!next) {
        if (looking) {
            void *block = early + early_used;
            early_used += (size + 15) & ~(size_t)15;
            return early_used <= sizeof early ? block : NULL;
        }
        looking = 1;
        void *found = dlsym(RTLD_NEXT, "malloc");
        looking = 0;
        *(void **)&next = found;
    }
    atomic_fetch_add(&allocations, 1);
    enter();
    void *block = next(size);
    depth--;
    return block;
}

void free(void *block)
{
    static void (*next)(void *);
    if ((char *)block >= early && (char *)block < early + sizeof early)
        return;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "free");
    enter();
    next(block);
    depth--;
}

int cuMemAlloc_v2(unsigned long long *device, size_t size)
{
    int (*next)(unsigned long long *, size_t) = NULL;
    *(void **)&next = dlsym(RTLD_NEXT, "cuMemAlloc_v2");
    enter();
    int result = next && depth == 1 ? next(device, size) : 999;
    depth--;
    return result;
}

int interposer_allocations(void)
{
    return atomic_load(&allocations);
}

int interposer_max_depth(void)
{
    return atomic_load(&max_depth);
}

/* Whether there is a cuMemAlloc_v2 after this library in the global order. */
int interposer_found_driver(void)
{
    return dlsym(RTLD_NEXT, "cuMemAlloc_v2") != NULL;
}

/* The name by which the driver would find this library as a tool. */
int InitializeInjection(void);
int InitializeInjection(void)
{
    return 1;
}
