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
    /* the place of its call among the thread's calls since the capture began, from 1 */
    uint32_t order;
    /* captured: the index of its operation in `nodes`; beside the capture (issued by the capturing
     * thread, and run at once): the index of its stack in `sites` */
    uint32_t owner;
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

/* Makes the record of one capture, in pages of its own: it is too large for a stack, and malloc
 * must not be called. NULL: no memory. */
struct sc_left_out *sc_left_out_new(void)
{
    struct sc_left_out *left_out = sc_pages_map(sizeof *left_out);
    if (left_out)
        sc_left_out_clear(left_out);
    return left_out;
}

/* Frees the record of a capture; NULL: does nothing. */
void sc_left_out_free(struct sc_left_out *left_out)
{
    sc_pages_unmap(left_out, sizeof *left_out);
}

/* Empties the record for another capture. Clears only the counts, since nothing is read beyond
 * them, and the rest has a megabyte. */
void sc_left_out_clear(struct sc_left_out *left_out)
{
    memset(left_out, 0, offsetof(struct sc_left_out, sites));
    left_out->captured.list = left_out->node_uses;
    left_out->beside.list = left_out->beside_uses;
}

/* How many operations found no room: nothing is known of them, so the report counts them as not
 * judged. */
uint64_t sc_left_out_count_dropped(const struct sc_left_out *left_out)
{
    return left_out->unknown;
}

/* Is there room for an operation (`fits`), and was there always? If not, counts it as dropped. Once
 * something did not fit, all later operations are dropped: they would be judged without it. */
static bool check_room(struct sc_left_out *left_out, bool fits)
{
    left_out->is_full = left_out->is_full || !fits;
    left_out->unknown += left_out->is_full;
    return !left_out->is_full;
}

/* ---- noting ---- */

/* Returns what the operation does with one piece of memory. The addresses among a kernel's
 * parameters (names), from which it may use memory, come after the uses that are known. */
struct sc_device_use sc_left_out_use(const struct sc_left_out_op *op, unsigned i)
{
    return i < op->use_count ? op->uses[i] : sc_device_use_named(op->names[i - op->use_count]);
}

/* Notes an operation that the thread has captured: launches repeat it. A kernel of which not all
 * parameters are known may write any memory from then on. One that uses no device memory only
 * counts. */
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

/* Was the memory allocated since the capture began? Then the program is setting it up, which no
 * launch has to repeat. */
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

/* Returns the index of the stack from which such operations are issued, added if it is new;
 * SC_LEFT_OUT_SITES_MAX: there is no room. Operations of one stack are one mistake, and are
 * reported once. */
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

/* Notes an operation that the capturing thread has issued beside the capture: it ran at once, and
 * no launch repeats it. Memory that is just being set up (is_fresh) is left out. */
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

/* Memory was allocated: what was used at these addresses before was other memory. Later uses are
 * known as the set-up of new memory. */
void sc_left_out_note_allocated(struct sc_left_out *left_out, uintptr_t address, size_t size_bytes)
{
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

/* A capture begins within another one of the thread: it knows of the memory that was allocated
 * since the outer one began. */
void sc_left_out_share_allocations(struct sc_left_out *left_out, const struct sc_left_out *outer)
{
    for (unsigned i = 0; i < outer->allocation_count; i++)
        sc_left_out_note_allocated(left_out, outer->allocations[i].address,
                                   outer->allocations[i].size_bytes);
}

/* ---- judging ---- */

/* Adds up what launches of the captured graph may write. Returns false if that is not known:
 * something found no room, a kernel's parameters are not all known, or the graph has nodes that
 * were not captured here. */
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

/* Do both use exactly the same bytes, row by row, gaps within the rows included? */
static bool has_same_bytes(const struct sc_device_use *one, const struct sc_device_use *other)
{
    const struct sc_shape *a = &one->shape, *b = &other->shape;
    return a->address == b->address && a->width_bytes == b->width_bytes && a->rows == b->rows &&
           (a->rows == 1 || a->pitch_bytes == b->pitch_bytes) &&
           one->fold.width_bytes == other->fold.width_bytes &&
           one->fold.pitch_bytes == other->fold.pitch_bytes;
}

/* Has the captured kernel with this place among the calls this address among its parameters? */
static bool has_name(const struct uses *nodes, uint32_t order, uintptr_t address)
{
    EACH_USE (node, nodes)
        if (node->order == order && node->what.access == SC_DEVICE_NAMES &&
            node->what.shape.address == address)
            return true;
    return false;
}

/* Has the captured kernel all addresses of the kernel that ran beside the capture, and are these at
 * least two? One address alone may be chance. Both kernels are named by their place among the
 * thread's calls. */
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

/* Is the kernel that ran beside the capture a variant of a captured one, with the same addresses?
 * Programs try kernels in turn and capture the best, so the graph does the same work. */
static bool is_variant(const struct sc_left_out *left_out, const struct use *use)
{
    EACH_USE (node, &left_out->captured)
        if (use->what.access == SC_DEVICE_NAMES && node->what.access == SC_DEVICE_NAMES &&
            node->what.shape.address == use->what.shape.address &&
            has_all_names(left_out, node->order, use->order))
            return true;
    return false;
}

/* Does the graph do the same as this work beside the capture, so that it lacks nothing? */
static bool is_in_graph(const struct sc_left_out *left_out, const struct use *use)
{
    EACH_USE (node, &left_out->captured)
        if (node->what.access == use->what.access && node->what.direction == use->what.direction &&
            node->function == use->function && has_same_bytes(&node->what, &use->what))
            return true;
    return is_variant(left_out, use);
}

/* May one of the uses have written the memory, by a call after `behind` and before `before` (places
 * among the calls)? `base`: where the memory's allocation begins, from which a kernel may write on;
 * UINTPTR_MAX: possible writes of kernels do not count. */
static bool may_write(const struct uses *uses, uint32_t behind, uint32_t before,
                      const struct sc_device_use *memory, uintptr_t base)
{
    EACH_USE (use, uses)
        if (use->order > behind && use->order < before &&
            sc_device_use_may_write(&use->what, memory, base))
            return true;
    return false;
}

/* Returns where the allocation begins in which the memory lies. A kernel may write from any address
 * in it to its end. */
static uintptr_t allocation_of(const struct sc_left_out *left_out, const struct use *use)
{
    return left_out->base_of(use->what.shape.address);
}

/* Does the captured operation (`node`) read, in each launch, what the work beside the capture
 * (`use`) has written? Not if captured work writes those bytes before it, as a kernel with unknown
 * parameters may; nor if a captured copy or memset writes them after it, for the next launch. */
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

/* Do the work beside the capture (`use`) and the captured one (`node`) belong together: does one
 * need what the other writes, by the order of the calls? The header of left_out.h has the three
 * cases: work that writes, a copy that reads, and a kernel that has an address. */
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

/* Returns the first captured use that belongs to this work beside the capture (issued meanwhile,
 * run at once): one needs what the other writes. NULL: there is none, or the graph does the same as
 * the work. */
static const struct use *find_node(const struct sc_left_out *left_out, const struct use *use)
{
    EACH_USE (node, &left_out->captured)
        if (sc_device_uses_touch(&use->what, &node->what) && belong_together(left_out, use, node))
            return is_in_graph(left_out, use) ? NULL : node;
    return NULL;
}

/* May captured work use the memory that this work beside the capture (issued meanwhile, run at
 * once) has written? Kernels whose parameters are not all known may use any, and so may operations
 * that found no room. */
static bool may_concern_graph(const struct sc_left_out *left_out, const struct use *use)
{
    EACH_USE (node, &left_out->captured)
        if (sc_device_uses_touch(&use->what, &node->what))
            return true;
    return left_out->first_unknown || left_out->is_full ||
           may_write(&left_out->captured, 0, UINT32_MAX, &use->what, allocation_of(left_out, use));
}

/* Can nobody tell whether the graph lacks this write? No captured work uses the memory, so launches
 * may be meant to repeat it, or not. What only reads changes nothing that a launch could lack. */
static bool is_undecided(const struct sc_left_out *left_out, const struct use *use)
{
    return use->what.access != SC_DEVICE_READS && !may_concern_graph(left_out, use);
}

/* May later work of the thread beside the capture (issued meanwhile, run at once) use the memory?
 * Then the write was of use without a launch. Any later kernel may use it, since it can load
 * addresses from memory. */
static bool is_used_later(const struct sc_left_out *left_out, const struct use *use)
{
    EACH_USE (later, &left_out->beside)
        if (later->order > use->order && sc_device_uses_touch(&later->what, &use->what))
            return true;
    return left_out->last_kernel > use->order;
}

/* Hands the first use of this stack that the graph lacks to the caller (`visit`). One is enough: a
 * stack is reported once. Returns false if there is none. */
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

/* Hands those uses of this stack to the caller (`visit`) of which nobody can tell whether the graph
 * lacks them. The caller watches their memory: what launches read or should have written shows it.
 */
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

/* The capture has ended: tells the caller which work beside it the graph lacks, stack by stack, or
 * where nothing is sure which work it may lack. */
void sc_left_out_visit_findings(struct sc_left_out *left_out, sc_left_out_find_base *base_of,
                                sc_left_out_visit *visit, void *context)
{
    left_out->base_of = base_of;
    for (uint32_t site = 0; site < left_out->site_count; site++)
        if (!visit_left_out(left_out, site, visit, context))
            visit_undecided(left_out, site, visit, context);
}
