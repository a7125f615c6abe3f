#include "track/left_out.h"

#include <stddef.h>
#include <string.h>

#include "common/poison.h"

#include "common/hazard.h"
#include "common/own_pages.h"
#include "track/device_use.h"
#include "track/graph_writes.h"

struct use {
    struct sc_device_use what;
    uintptr_t function;
    uint32_t order; /* the place of its call among the thread's calls since the capture began */
    uint32_t owner; /* captured: the index of its node; beside the capture: the index of its site */
};

/* The captured uses, or those beside the capture, in the order of the calls. */
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
    sc_left_out_find_base *base_of; /* set while sc_left_out_visit_findings runs */
    uint32_t order;
    uint32_t first_unknown; /* order of the first captured kernel that may do anything; 0: none */
    uint32_t last_kernel;   /* order of the last kernel beside the capture; 0: none */
    size_t captured_count;  /* how many operations were captured, also such without uses */
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

/* Clears only the counts: nothing is read after these. */
void sc_left_out_clear(struct sc_left_out *left_out)
{
    memset(left_out, 0, offsetof(struct sc_left_out, sites));
    left_out->captured.list = left_out->node_uses;
    left_out->beside.list = left_out->beside_uses;
}

uint64_t sc_left_out_count_dropped(const struct sc_left_out *left_out)
{
    return left_out->unknown;
}

/* Returns whether there is room, as `fits` says, and always was; else counts the operation as
 * dropped. When something did not fit, all later operations are dropped and counted as well, since
 * they would be judged without it. */
static bool check_room(struct sc_left_out *left_out, bool fits)
{
    left_out->is_full = left_out->is_full || !fits;
    left_out->unknown += left_out->is_full;
    return !left_out->is_full;
}

/* ---- noting ---- */

/* Returns use number `i` of the operation: the uses come first, then the names. */
struct sc_device_use sc_left_out_use(const struct sc_left_out_op *op, unsigned i)
{
    return i < op->use_count ? op->uses[i] : sc_device_use_named(op->names[i - op->use_count]);
}

/* Stores the operation and its uses, in the order of the calls. */
void sc_left_out_note_captured(struct sc_left_out *left_out, const struct sc_hazard_copy *what,
                               const struct sc_left_out_op *op)
{
    uint32_t order = ++left_out->order;
    unsigned count = sc_left_out_count(op);
    left_out->captured_count++;
    if (op->is_partly_known && !left_out->first_unknown)
        left_out->first_unknown = order;
    if (count == 0 ||
        !check_room(left_out, left_out->node_count < SC_LEFT_OUT_CAPTURED_MAX &&
                                  left_out->captured.count + count <= SC_LEFT_OUT_NODE_USES_MAX))
        return;
    uint32_t node = left_out->node_count++;
    left_out->nodes[node] = *what;
    for (unsigned i = 0; i < count; i++)
        left_out->captured.list[left_out->captured.count++] =
            (struct use){sc_left_out_use(op, i), op->function, order, node};
}

/* Was the memory allocated since the capture began, so that the program is setting it up? */
static bool is_fresh(const struct sc_left_out *left_out, const struct sc_device_use *use)
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

/* Returns the index of the site (stack) of such operations, added if it is new;
 * SC_LEFT_OUT_SITES_MAX: there is no room. */
static uint32_t site_index(const struct sc_left_out *left_out, const struct sc_hazard *what)
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

/* Stores the operation's uses with the site that made it. */
void sc_left_out_note_beside(struct sc_left_out *left_out, const struct sc_hazard *what,
                             const struct sc_left_out_op *op)
{
    uint32_t order = ++left_out->order;
    unsigned count = sc_left_out_count(op);
    uint32_t site = site_index(left_out, what);
    if (op->function)
        left_out->last_kernel = order;
    if (count == 0 ||
        !check_room(left_out, site < SC_LEFT_OUT_SITES_MAX &&
                                  left_out->beside.count + count <= SC_LEFT_OUT_USES_MAX))
        return;
    if (site == left_out->site_count)
        left_out->sites[left_out->site_count++] = *what;
    for (unsigned i = 0; i < count; i++) {
        struct sc_device_use use = sc_left_out_use(op, i);
        if (!is_fresh(left_out, &use))
            left_out->beside.list[left_out->beside.count++] =
                (struct use){use, op->function, order, site};
    }
}

/* Drops earlier uses of these addresses, and lists the allocation. */
void sc_left_out_note_allocated(struct sc_left_out *left_out, uintptr_t address, size_t size_bytes)
{
    /* What was used at these addresses before was other memory. */
    unsigned kept = 0;
    EACH_USE (use, &left_out->beside)
        if (use->what.shape.address >= address + size_bytes ||
            sc_device_use_end(&use->what) <= address)
            left_out->beside.list[kept++] = *use;
    left_out->beside.count = kept;
    if (check_room(left_out, left_out->allocation_count < SC_LEFT_OUT_ALLOCATIONS_MAX))
        left_out->allocations[left_out->allocation_count++] =
            (struct allocation){address, size_bytes};
}

void sc_left_out_share_allocations(struct sc_left_out *left_out, const struct sc_left_out *outer)
{
    for (unsigned i = 0; i < outer->allocation_count; i++)
        sc_left_out_note_allocated(left_out, outer->allocations[i].address,
                                   outer->allocations[i].size_bytes);
}

/* ---- judging ---- */

/* Adds up what captured operations write, and the addresses of captured kernels. */
bool sc_left_out_get_writes(const struct sc_left_out *left_out, size_t node_count,
                            struct sc_graph_write *write)
{
    write->written.count = write->named.count = 0;
    if (left_out->is_full || left_out->first_unknown || left_out->captured_count != node_count)
        return false;
    EACH_USE (use, &left_out->captured)
        if (use->what.access == SC_DEVICE_WRITES)
            sc_graph_write_add(&write->written, use->what.shape.address,
                               sc_device_use_end(&use->what) - 1);
        else if (use->what.access == SC_DEVICE_NAMES)
            sc_graph_write_add(&write->named, use->what.shape.address, use->what.shape.address);
    return true;
}

/* Do both use exactly the same bytes, row by row? */
static bool has_same_bytes(const struct sc_device_use *one, const struct sc_device_use *other)
{
    const struct sc_shape *a = &one->shape, *b = &other->shape;
    return a->address == b->address && a->width_bytes == b->width_bytes && a->rows == b->rows &&
           (a->rows == 1 || a->pitch_bytes == b->pitch_bytes) &&
           one->fold.width_bytes == other->fold.width_bytes &&
           one->fold.pitch_bytes == other->fold.pitch_bytes;
}

/* Does the captured kernel number `order` have this address among its parameters? */
static bool has_name(const struct uses *nodes, uint32_t order, uintptr_t address)
{
    EACH_USE (node, nodes)
        if (node->order == order && node->what.access == SC_DEVICE_NAMES &&
            node->what.shape.address == address)
            return true;
    return false;
}

/* Does the captured kernel number `order` have all addresses of the kernel `beside` the capture,
 * and are these at least two? */
static bool has_all_names(const struct sc_left_out *left_out, uint32_t order, uint32_t beside)
{
    unsigned count = 0;
    EACH_USE (use, &left_out->beside) {
        if (use->order != beside)
            continue;
        if (!has_name(&left_out->captured, order, use->what.shape.address))
            return false;
        count++;
    }
    return count >= 2;
}

/* Is the kernel beside the capture a variant of a captured one, which has the same addresses?
 * Programs try kernels in turn. */
static bool is_variant(const struct sc_left_out *left_out, const struct use *use)
{
    EACH_USE (node, &left_out->captured)
        if (use->what.access == SC_DEVICE_NAMES && node->what.access == SC_DEVICE_NAMES &&
            node->what.shape.address == use->what.shape.address &&
            has_all_names(left_out, node->order, use->order))
            return true;
    return false;
}

/* Does the graph do the same, so that the work is not left out? */
static bool is_in_graph(const struct sc_left_out *left_out, const struct use *use)
{
    EACH_USE (node, &left_out->captured)
        if (node->what.access == use->what.access && node->what.direction == use->what.direction &&
            node->function == use->function && has_same_bytes(&node->what, &use->what))
            return true;
    return is_variant(left_out, use);
}

/* May one of the uses have written the memory, by a call after `behind` and before `before`?
 * `base`: where the memory's allocation begins; UINTPTR_MAX: possible writes of kernels do not
 * count. */
static bool may_write(const struct uses *uses, uint32_t behind, uint32_t before,
                      const struct sc_device_use *memory, uintptr_t base)
{
    EACH_USE (use, uses)
        if (use->order > behind && use->order < before &&
            sc_device_use_may_write(&use->what, memory, base))
            return true;
    return false;
}

static uintptr_t allocation_of(const struct sc_left_out *left_out, const struct use *use)
{
    return left_out->base_of(use->what.shape.address);
}

/* Does the captured operation read, in each launch, what work beside the capture has written? Not
 * if earlier captured work writes those bytes, as a kernel with unknown parameters may. And not if
 * a captured copy or memset writes them later, for the next launch. */
static bool reads_beside(const struct sc_left_out *left_out, const struct use *use,
                         const struct use *node)
{
    bool is_named = node->what.access == SC_DEVICE_NAMES;
    if (left_out->first_unknown && left_out->first_unknown < node->order)
        return false;
    return !may_write(&left_out->captured, 0, node->order, &node->what,
                      allocation_of(left_out, node)) &&
           !may_write(&left_out->captured, node->order, UINT32_MAX,
                      is_named ? &use->what : &node->what, UINTPTR_MAX);
}

/* Does the captured use belong to the work beside the capture, by the rule of left_out.h? */
static bool belong_together(const struct sc_left_out *left_out, const struct use *use,
                            const struct use *node)
{
    bool writes = node->what.access == SC_DEVICE_WRITES;
    bool is_result = node->what.access == SC_DEVICE_READS && node->what.direction == SC_D2H;
    if (use->what.access == SC_DEVICE_WRITES)
        return !writes && reads_beside(left_out, use, node);
    if (writes)
        return node->order < use->order && !may_write(&left_out->beside, node->order, use->order,
                                                      &use->what, allocation_of(left_out, use));
    return use->what.access == SC_DEVICE_NAMES && is_result && node->order > use->order &&
           reads_beside(left_out, use, node);
}

/* Returns the first captured use that belongs to the work, or NULL if there is none, or the graph
 * does the same. */
static const struct use *find_node(const struct sc_left_out *left_out, const struct use *use)
{
    EACH_USE (node, &left_out->captured)
        if (sc_device_uses_touch(&use->what, &node->what) && belong_together(left_out, use, node))
            return is_in_graph(left_out, use) ? NULL : node;
    return NULL;
}

/* May captured work use the memory? Kernels whose parameters are not all known may use any memory,
 * and so may operations that did not fit. */
static bool may_concern_graph(const struct sc_left_out *left_out, const struct use *use)
{
    EACH_USE (node, &left_out->captured)
        if (sc_device_uses_touch(&use->what, &node->what))
            return true;
    return left_out->first_unknown || left_out->is_full ||
           may_write(&left_out->captured, 0, UINT32_MAX, &use->what, allocation_of(left_out, use));
}

/* Can nobody tell whether the graph lacks this use? */
static bool is_undecided(const struct sc_left_out *left_out, const struct use *use)
{
    return use->what.access != SC_DEVICE_READS && !may_concern_graph(left_out, use);
}

/* May later work of the thread beside the capture use the memory? Any later kernel may, since it
 * can load addresses from memory. */
static bool is_used_later(const struct sc_left_out *left_out, const struct use *use)
{
    EACH_USE (later, &left_out->beside)
        if (later->order > use->order && sc_device_uses_touch(&later->what, &use->what))
            return true;
    return left_out->last_kernel > use->order;
}

/* Visits the site's first use that was left out. Returns false if there is none. */
static bool visit_left_out(const struct sc_left_out *left_out, uint32_t site,
                           sc_left_out_visit *visit, void *context)
{
    EACH_USE (use, &left_out->beside) {
        const struct use *node = use->owner == site ? find_node(left_out, use) : NULL;
        if (!node)
            continue;
        visit(context, &(struct sc_left_out_finding){.beside = &left_out->sites[site],
                                                     .use = &use->what,
                                                     .captured = &left_out->nodes[node->owner],
                                                     .captured_use = &node->what});
        return true;
    }
    return false;
}

/* Visits the site's uses of which it cannot be known whether the graph lacks them. */
static void visit_undecided(const struct sc_left_out *left_out, uint32_t site,
                            sc_left_out_visit *visit, void *context)
{
    struct sc_left_out_finding finding = {.beside = &left_out->sites[site]};
    EACH_USE (use, &left_out->beside) {
        if (use->owner != site || !is_undecided(left_out, use))
            continue;
        finding.use = &use->what;
        finding.is_met = is_used_later(left_out, use);
        visit(context, &finding);
        finding.is_further = true;
    }
}

void sc_left_out_visit_findings(struct sc_left_out *left_out, sc_left_out_find_base *base_of,
                                sc_left_out_visit *visit, void *context)
{
    left_out->base_of = base_of;
    for (uint32_t site = 0; site < left_out->site_count; site++)
        if (!visit_left_out(left_out, site, visit, context))
            visit_undecided(left_out, site, visit, context);
}
