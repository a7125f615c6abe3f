/* Looking functions up by name, version and kind of default stream, and their table. */
#include "api.h"

#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>
#include <string.h>

enum variant { PLAIN, PTSZ, PTDS };

/* Every row's type must be the one that cudaTypedefs.h gives the name at that version. */
#define PFN_PLAIN(base, version) PFN_##base##_v##version
#define PFN_PTSZ(base, version) PFN_##base##_v##version##_ptsz
#define PFN_PTDS(base, version) PFN_##base##_v##version##_ptds
#define SIM_FUNCTION(symbol, base, version, variant)                                               \
    _Static_assert(                                                                                \
        __builtin_types_compatible_p(__typeof__(&symbol), PFN_##variant(base, version)),           \
        #symbol " is not " #base " of " #version);
#define SIM_STUB(symbol, base, version, variant) SIM_FUNCTION(symbol, base, version, variant)
#include "driver.def"
#undef SIM_FUNCTION

struct function {
    const char *base;
    void (*address)(void);
    int version;
    enum variant variant;
};

/* The table holds our own names, so that a library that interposes ours never gets itself. */
#define SIM_FUNCTION(symbol, base, version, variant)                                               \
    extern __typeof__(symbol) sim_own_##symbol __attribute__((visibility("hidden")));
#include "driver.def"
#undef SIM_FUNCTION

#define SIM_FUNCTION(symbol, base, version, variant)                                               \
    {#base, (void (*)(void))sim_own_##symbol, version, variant},
static const struct function functions[] = {
#include "driver.def"
};
#undef SIM_FUNCTION
#undef SIM_STUB

#define FUNCTIONS (sizeof functions / sizeof functions[0])
#define SLOTS 2048

/* Rows of equal names follow each other; the hash table holds the first of each name. */
static uint16_t slots[SLOTS];
static _Atomic bool slots_filled;

static uint32_t hash(const char *name)
{
    uint32_t h = 2166136261u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619u;
    return h;
}

static void fill_slots(void)
{
    static _Atomic bool busy;
    if (atomic_exchange(&busy, true)) {
        while (!atomic_load(&slots_filled)) {
        }
        return;
    }
    for (size_t i = 0; i < FUNCTIONS; i++) {
        uint32_t at = hash(functions[i].base) % SLOTS;
        if (i > 0 && strcmp(functions[i].base, functions[i - 1].base) == 0)
            continue;
        while (slots[at])
            at = (at + 1) % SLOTS;
        slots[at] = (uint16_t)(i + 1);
    }
    atomic_store(&slots_filled, true);
}

static const struct function *first_of(const char *name)
{
    if (!atomic_load(&slots_filled))
        fill_slots();
    for (uint32_t at = hash(name) % SLOTS; slots[at]; at = (at + 1) % SLOTS)
        if (strcmp(functions[slots[at] - 1].base, name) == 0)
            return &functions[slots[at] - 1];
    return NULL;
}

static const struct function *newest(const struct function *first, int version, bool per_thread)
{
    const struct function *best = NULL;
    for (const struct function *f = first;
         f < functions + FUNCTIONS && strcmp(f->base, first->base) == 0; f++)
        if ((f->variant != PLAIN) == per_thread && f->version <= version &&
            (!best || f->version > best->version))
            best = f;
    return best;
}

/* The newest function of that name that is no newer than asked for. Without a per-thread variant
 * of it the plain one serves. */
static const struct function *choose(const char *name, int version, bool per_thread,
                                     CUdriverProcAddressQueryResult *status)
{
    const struct function *first = first_of(name), *best = NULL;
    if (first && per_thread)
        best = newest(first, version, true);
    if (first && !best)
        best = newest(first, version, false);
    *status = best    ? CU_GET_PROC_ADDRESS_SUCCESS
              : first ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                      : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return best;
}

static CUresult look_up(const char *symbol, void **pfn, int version, cuuint64_t flags,
                        CUdriverProcAddressQueryResult *status)
{
    const cuuint64_t known =
        CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    if (!symbol || !pfn || (flags & ~known) || flags == known || version > sim_driver_version())
        return CUDA_ERROR_INVALID_VALUE;
    const struct function *f =
        choose(symbol, version, flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, status);
    if (f)
        memcpy(pfn, &f->address, sizeof *pfn);
    else
        *pfn = NULL;
    return CUDA_SUCCESS;
}

SIM_API_EARLY(cuGetProcAddress, (const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags),
              symbol, pfn, cudaVersion, flags)
{
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    CUresult result = look_up(symbol, pfn, cudaVersion, flags, &status);
    return result == CUDA_SUCCESS && status ? CUDA_ERROR_NOT_FOUND : result;
}

/* With somewhere to put the status, an unknown name is not an error. */
SIM_API_EARLY(cuGetProcAddress_v2,
              (const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
               CUdriverProcAddressQueryResult *symbolStatus),
              symbol, pfn, cudaVersion, flags, symbolStatus)
{
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    CUresult result = look_up(symbol, pfn, cudaVersion, flags, &status);
    if (result == CUDA_SUCCESS && symbolStatus) {
        *symbolStatus = status;
        return CUDA_SUCCESS;
    }
    return result == CUDA_SUCCESS && status ? CUDA_ERROR_NOT_FOUND : result;
}
