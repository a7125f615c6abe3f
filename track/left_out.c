#include "track/left_out.h"

#include <stddef.h>
#include <string.h>

#include "common/poison.h"

#include "common/hazard.h"
#include "common/own_pages.h"
#include "track/device_use.h"
#include "track/graph_writes.h"

struct use {
    struct sc_device_use is;
    uintptr_t function;
    uint32_t order; /* of the call, among all of the thread since the capture began */
    uint32_t of;    /* captured: the node; beside the capture: the site */
};

/* Those that were captured, or those beside the capture, in the order of the calls. */
struct uses {
    struct use *list;
    unsigned count;
};

#define EACH_USE(each, uses)                                                                       \
    for (const struct use *each = (uses)->list; each < (uses)->list + (uses)->count; each++)

struct allocation {
    uintptr_t address;
    size_t size_bytes;
};

struct sc_left_out {
    sc_left_out_base *base_of; /* while it is judged */
    uint32_t order;
    uint32_t first_unknown; /* order of the first captured kernel that may do anything; 0: none */
    uint32_t last_kernel;   /* order of the last kernel beside the capture; 0: none */
    size_t captured_count;  /* operations, whatever is known of them */
    bool is_full;
    uint64_t unknown;
    unsigned node_count, site_count, allocation_count;
    struct uses captured, beside;
    struct sc_hazard sites[SC_LEFT_OUT_SITES_MAX];
    struct use beside_uses[SC_LEFT_OUT_USES_MAX];
    struct allocation allocations[SC_LEFT_OUT_ALLOCATIONS_MAX];
    struct sc_hazard_copy nodes[SC_LEFT_OUT_CAPTURED_MAX];
    struct use node_uses[SC_LEFT_OUT_NODE_USES_MAX];
};

struct sc_left_out *sc_left_out_new(void)
{
    struct sc_left_out *left_out = sc_pages_map(sizeof *left_out);
    if (left_out)
        sc_left_out_clear(left_out);
    return left_out;
}

void sc_left_out_free(struct sc_left_out *left_out)
{
    sc_pages_unmap(left_out, sizeof *left_out);
}

/* What lies behind the counts is not read. */
void sc_left_out_clear(struct sc_left_out *left_out)
{
    memset(left_out, 0, offsetof(struct sc_left_out, sites));
    left_out->captured.list = left_out->node_uses;
    left_out->beside.list = left_out->beside_uses;
}

uint64_t sc_left_out_unknown(const struct sc_left_out *left_out)
{
    return left_out->unknown;
}

/* Once something is missing, whatever comes later would be judged without it. */
static bool has_room(struct sc_left_out *left_out, bool fits)
{
    left_out->is_full = left_out->is_full || !fits;
    left_out->unknown += left_out->is_full;
    return !left_out->is_full;
}

/* ---- noting ---- */

/* The uses come first, and then the names. */
struct sc_device_use sc_left_out_use(const struct sc_left_out_op *op, unsigned i)
{
    return i < op->use_count ? op->uses[i] : sc_device_use_named(op->names[i - op->use_count]);
}

void sc_left_out_captured(struct sc_left_out *left_out, const struct sc_hazard_copy *what,
                          const struct sc_left_out_op *op)
{
    uint32_t order = ++left_out->order;
    unsigned count = sc_left_out_count(op);
    left_out->captured_count++;
    if (op->is_partly_known && !left_out->first_unknown)
        left_out->first_unknown = order;
    if (count == 0 ||
        !has_room(left_out, left_out->node_count < SC_LEFT_OUT_CAPTURED_MAX &&
                                left_out->captured.count + count <= SC_LEFT_OUT_NODE_USES_MAX))
        return;
    uint32_t node = left_out->node_count++;
    left_out->nodes[node] = *what;
    for (unsigned i = 0; i < count; i++)
        left_out->captured.list[left_out->captured.count++] =
            (struct use){sc_left_out_use(op, i), op->function, order, node};
}

static bool is_set_up(const struct sc_left_out *left_out, const struct sc_device_use *use)
{
    uintptr_t first = use->shape.address;
    uintptr_t last = first + sc_shape_hull_bytes(&use->shape) - 1;
    for (unsigned i = 0; i < left_out->allocation_count; i++) {
        const struct allocation *allocation = &left_out->allocations[i];
        if (first - allocation->address < allocation->size_bytes ||
            last - allocation->address < allocation->size_bytes)
            return true;
    }
    return false;
}

/* SC_LEFT_OUT_SITES_MAX: there is none, and no room. */
static uint32_t site_of(const struct sc_left_out *left_out, const struct sc_hazard *what)
{
    uint32_t site = 0;
    while (site < left_out->site_count &&
           (left_out->sites[site].event.stack != what->event.stack ||
            left_out->sites[site].event.api != what->event.api ||
            left_out->sites[site].ignored != what->ignored ||
            left_out->sites[site].may_be_meant != what->may_be_meant))
        site++;
    return site;
}

void sc_left_out_beside(struct sc_left_out *left_out, const struct sc_hazard *what,
                        const struct sc_left_out_op *op)
{
    uint32_t order = ++left_out->order;
    unsigned count = sc_left_out_count(op);
    uint32_t site = site_of(left_out, what);
    if (op->function)
        left_out->last_kernel = order;
    if (count == 0 ||
        !has_room(left_out, site < SC_LEFT_OUT_SITES_MAX &&
                                left_out->beside.count + count <= SC_LEFT_OUT_USES_MAX))
        return;
    if (site == left_out->site_count)
        left_out->sites[left_out->site_count++] = *what;
    for (unsigned i = 0; i < count; i++) {
        struct sc_device_use use = sc_left_out_use(op, i);
        if (!is_set_up(left_out, &use))
            left_out->beside.list[left_out->beside.count++] =
                (struct use){use, op->function, order, site};
    }
}

void sc_left_out_allocated(struct sc_left_out *left_out, uintptr_t address, size_t size_bytes)
{
    /* What was used at these addresses before is gone. */
    unsigned kept = 0;
    EACH_USE (use, &left_out->beside)
        if (use->is.shape.address >= address + size_bytes || sc_device_use_end(&use->is) <= address)
            left_out->beside.list[kept++] = *use;
    left_out->beside.count = kept;
    if (has_room(left_out, left_out->allocation_count < SC_LEFT_OUT_ALLOCATIONS_MAX))
        left_out->allocations[left_out->allocation_count++] =
            (struct allocation){address, size_bytes};
}

void sc_left_out_share(struct sc_left_out *left_out, const struct sc_left_out *outer)
{
    for (unsigned i = 0; i < outer->allocation_count; i++)
        sc_left_out_allocated(left_out, outer->allocations[i].address,
                              outer->allocations[i].size_bytes);
}

/* ---- judging ---- */

bool sc_left_out_writes(const struct sc_left_out *left_out, size_t node_count,
                        struct sc_graph_write *write)
{
    write->written.count = write->named.count = 0;
    if (left_out->is_full || left_out->first_unknown || left_out->captured_count != node_count)
        return false;
    EACH_USE (use, &left_out->captured)
        if (use->is.access == SC_DEVICE_WRITES)
            sc_graph_write_add(&write->written, use->is.shape.address,
                               sc_device_use_end(&use->is) - 1);
        else if (use->is.access == SC_DEVICE_NAMES)
            sc_graph_write_add(&write->named, use->is.shape.address, use->is.shape.address);
    return true;
}

static bool has_same_bytes(const struct sc_device_use *one, const struct sc_device_use *other)
{
    const struct sc_shape *a = &one->shape, *b = &other->shape;
    return a->address == b->address && a->width_bytes == b->width_bytes && a->rows == b->rows &&
           (a->rows == 1 || a->pitch_bytes == b->pitch_bytes) &&
           one->fold.width_bytes == other->fold.width_bytes &&
           one->fold.pitch_bytes == other->fold.pitch_bytes;
}

static bool has_name(const struct uses *nodes, uint32_t order, uintptr_t address)
{
    EACH_USE (node, nodes)
        if (node->order == order && node->is.access == SC_DEVICE_NAMES &&
            node->is.shape.address == address)
            return true;
    return false;
}

/* Has the captured kernel all the addresses that the kernel beside the capture has, and are these
 * two or more? */
static bool has_all_names(const struct sc_left_out *left_out, uint32_t order, uint32_t of)
{
    unsigned count = 0;
    EACH_USE (use, &left_out->beside) {
        if (use->order != of)
            continue;
        if (!has_name(&left_out->captured, order, use->is.shape.address))
            return false;
        count++;
    }
    return count >= 2;
}

/* Is it a kernel that was tried in the place of another one? The graph has that one, with the same
 * memory. */
static bool is_variant(const struct sc_left_out *left_out, const struct use *use)
{
    EACH_USE (node, &left_out->captured)
        if (use->is.access == SC_DEVICE_NAMES && node->is.access == SC_DEVICE_NAMES &&
            node->is.shape.address == use->is.shape.address &&
            has_all_names(left_out, node->order, use->order))
            return true;
    return false;
}

/* Does the graph do the same? */
static bool is_in_graph(const struct sc_left_out *left_out, const struct use *use)
{
    EACH_USE (node, &left_out->captured)
        if (node->is.access == use->is.access && node->is.direction == use->is.direction &&
            node->function == use->function && has_same_bytes(&node->is, &use->is))
            return true;
    return is_variant(left_out, use);
}

/* May one of them have written there, by a call between the two? `base`: where the allocation
 * begins; UINTPTR_MAX: what kernels may write does not count. */
static bool is_written(const struct uses *uses, uint32_t behind, uint32_t before,
                       const struct sc_device_use *memory, uintptr_t base)
{
    EACH_USE (use, uses)
        if (use->order > behind && use->order < before &&
            sc_device_use_may_write(&use->is, memory, base))
            return true;
    return false;
}

static uintptr_t allocation_of(const struct sc_left_out *left_out, const struct use *use)
{
    return left_out->base_of(use->is.shape.address);
}

/* Is what the node reads in each launch what work beside the capture has left? It is not where
 * captured work makes it before that, as a kernel may of which nothing is known. Nor is it where a
 * captured copy or memset writes there later, for the next launch. */
static bool is_left_to_it(const struct sc_left_out *left_out, const struct use *use,
                          const struct use *node)
{
    bool is_named = node->is.access == SC_DEVICE_NAMES;
    if (left_out->first_unknown && left_out->first_unknown < node->order)
        return false;
    return !is_written(&left_out->captured, 0, node->order, &node->is,
                       allocation_of(left_out, node)) &&
           !is_written(&left_out->captured, node->order, UINT32_MAX,
                       is_named ? &use->is : &node->is, UINTPTR_MAX);
}

static bool belong_together(const struct sc_left_out *left_out, const struct use *use,
                            const struct use *node)
{
    bool writes = node->is.access == SC_DEVICE_WRITES;
    bool is_result = node->is.access == SC_DEVICE_READS && node->is.direction == SC_D2H;
    if (use->is.access == SC_DEVICE_WRITES)
        return !writes && is_left_to_it(left_out, use, node);
    if (writes)
        return node->order < use->order && !is_written(&left_out->beside, node->order, use->order,
                                                       &use->is, allocation_of(left_out, use));
    return use->is.access == SC_DEVICE_NAMES && is_result && node->order > use->order &&
           is_left_to_it(left_out, use, node);
}

static const struct use *find_node(const struct sc_left_out *left_out, const struct use *use)
{
    EACH_USE (node, &left_out->captured)
        if (sc_device_uses_touch(&use->is, &node->is) && belong_together(left_out, use, node))
            return is_in_graph(left_out, use) ? NULL : node;
    return NULL;
}

/* Kernels of which not all is known may use any memory, and so may operations that did not fit. */
static bool has_to_do_with_graph(const struct sc_left_out *left_out, const struct use *use)
{
    EACH_USE (node, &left_out->captured)
        if (sc_device_uses_touch(&use->is, &node->is))
            return true;
    return left_out->first_unknown || left_out->is_full ||
           is_written(&left_out->captured, 0, UINT32_MAX, &use->is, allocation_of(left_out, use));
}

/* Whether the graph lacks it cannot be told. */
static bool is_undecided(const struct sc_left_out *left_out, const struct use *use)
{
    return use->is.access != SC_DEVICE_READS && !has_to_do_with_graph(left_out, use);
}

/* A kernel may have its addresses from memory. */
static bool is_met(const struct sc_left_out *left_out, const struct use *use)
{
    EACH_USE (later, &left_out->beside)
        if (later->order > use->order && sc_device_uses_touch(&later->is, &use->is))
            return true;
    return left_out->last_kernel > use->order;
}

static bool visit_left_out(const struct sc_left_out *left_out, uint32_t site,
                           sc_left_out_visit *visit, void *context)
{
    EACH_USE (use, &left_out->beside) {
        const struct use *node = use->of == site ? find_node(left_out, use) : NULL;
        if (!node)
            continue;
        visit(context, &(struct sc_left_out_finding){.beside = &left_out->sites[site],
                                                     .use = &use->is,
                                                     .captured = &left_out->nodes[node->of],
                                                     .captured_use = &node->is});
        return true;
    }
    return false;
}

static void visit_undecided(const struct sc_left_out *left_out, uint32_t site,
                            sc_left_out_visit *visit, void *context)
{
    struct sc_left_out_finding finding = {.beside = &left_out->sites[site]};
    EACH_USE (use, &left_out->beside) {
        if (use->of != site || !is_undecided(left_out, use))
            continue;
        finding.use = &use->is;
        finding.is_met = is_met(left_out, use);
        visit(context, &finding);
        finding.is_further = true;
    }
}

void sc_left_out_each(struct sc_left_out *left_out, sc_left_out_base *base_of,
                      sc_left_out_visit *visit, void *context)
{
    left_out->base_of = base_of;
    for (uint32_t site = 0; site < left_out->site_count; site++)
        if (!visit_left_out(left_out, site, visit, context))
            visit_undecided(left_out, site, visit, context);
}
