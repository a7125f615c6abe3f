/* Registered host memory: a treap by address, and the range found last. */
#include "memory.h"

#include <sys/mman.h>

struct node {
    struct node *left, *right;
    uint32_t priority;
    int pin;
    struct sim_range range;
};

static struct node *root, *recent;
static struct sim_slab nodes = {sizeof(struct node), NULL};

/* Splits by base address: everything below `at`, everything else. */
static void split(struct node *tree, uintptr_t at, struct node **below, struct node **rest)
{
    while (tree) {
        if (tree->range.base < at) {
            *below = tree;
            below = &tree->right;
            tree = tree->right;
        } else {
            *rest = tree;
            rest = &tree->left;
            tree = tree->left;
        }
    }
    *below = *rest = NULL;
}

static struct node *join(struct node *low, struct node *high)
{
    struct node *result, **at = &result;
    while (low && high) {
        if (low->priority > high->priority) {
            *at = low;
            at = &low->right;
            low = low->right;
        } else {
            *at = high;
            at = &high->left;
            high = high->left;
        }
    }
    *at = low ? low : high;
    return result;
}

/* The range with the highest base at or below the address. */
static struct node *floor_of(uintptr_t address)
{
    struct node *found = NULL;
    for (struct node *n = root; n;) {
        if (n->range.base <= address) {
            found = n;
            n = n->right;
        } else {
            n = n->left;
        }
    }
    return found;
}

bool sim_registry_find_locked(uintptr_t address, struct sim_range *range)
{
    if (!recent || address - recent->range.base >= recent->range.size) {
        struct node *n = floor_of(address);
        if (!n || address - n->range.base >= n->range.size)
            return false;
        recent = n;
    }
    *range = recent->range;
    return true;
}

bool sim_registry_overlaps_locked(uintptr_t base, size_t size)
{
    struct node *n = floor_of(base + size - 1);
    return n && n->range.base + n->range.size > base;
}

#define PAGE ((uintptr_t)4096)

static size_t pages_of(const struct sim_range *range)
{
    return (range->base % PAGE + range->size + PAGE - 1) & ~(PAGE - 1);
}

static void map_alias(struct sim_range *range)
{
    uintptr_t first = range->base & ~(PAGE - 1);
    uintptr_t alias = sim_alias_map_locked(first, pages_of(range));
    range->alias = alias ? alias - first : 0;
}

static void unmap_alias(const struct sim_range *range)
{
    uintptr_t first = range->base & ~(PAGE - 1);
    if (range->alias)
        munmap((void *)(first + range->alias), pages_of(range));
}

CUresult sim_registry_add_locked(uintptr_t base, size_t size, unsigned flags, CUcontext context)
{
    static uint32_t random = 1;
    static unsigned long long ids = 1ULL << 40;
    struct node *low, *high;
    struct node *n = sim_budget_take_locked(SIM_HOST, size) ? sim_slab_take_locked(&nodes) : NULL;
    if (!n)
        return CUDA_ERROR_OUT_OF_MEMORY;
    random = random * 1664525 + 1013904223;
    n->priority = random;
    n->range = (struct sim_range){
        .kind = MEMORY_REGISTERED,
        .base = base,
        .size = size,
        .flags = flags,
        .device = context->device,
        .context = context,
        .id = ++ids,
    };
    map_alias(&n->range);
    n->pin = sim_pin_take(base, size);
    split(root, base, &low, &high);
    root = join(join(low, n), high);
    return CUDA_SUCCESS;
}

CUresult sim_registry_remove_locked(uintptr_t base)
{
    struct node *low, *high, *n;
    split(root, base, &low, &high);
    split(high, base + 1, &n, &high);
    root = join(low, high);
    if (!n)
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    recent = NULL;
    sim_pin_drop(n->pin);
    sim_budget_give_locked(SIM_HOST, n->range.size);
    unmap_alias(&n->range);
    sim_slab_give_locked(&nodes, n);
    return CUDA_SUCCESS;
}

static struct node *first_of(struct node *tree, CUcontext context)
{
    struct node *found = NULL;
    if (tree) {
        found = tree->range.context == context ? tree : first_of(tree->left, context);
        found = found ? found : first_of(tree->right, context);
    }
    return found;
}

void sim_registry_drop_context_locked(CUcontext context)
{
    for (struct node *n; (n = first_of(root, context)) != NULL;)
        sim_registry_remove_locked(n->range.base);
}
