#include "track/left_out.h"

#include <stddef.h>
#include <string.h>

#include "track/pool.h"

#include "track/poison.h"

/* `order`: of the call, among all of the thread since the capture began. */
struct node_use {
    struct sc_device_use is;
    uintptr_t function;
    uint32_t order;
    uint32_t node;
};

struct beside_use {
    struct sc_device_use is;
    uintptr_t function;
    uint32_t order;
    uint32_t site;
};

struct allocation {
    uintptr_t address;
    size_t size_bytes;
};

struct sc_left_out {
    sc_left_out_base *base_of; /* while it is judged */
    uint32_t order;
    uint32_t first_unknown; /* order of the first captured kernel that may do anything; 0: none */
    size_t captured_count;  /* operations, whatever is known of them */
    bool is_full;
    uint64_t unknown;
    unsigned node_count, node_use_count, site_count, beside_use_count, allocation_count;
    struct sc_hazard sites[SC_LEFT_OUT_SITES_MAX];
    struct beside_use beside_uses[SC_LEFT_OUT_USES_MAX];
    struct allocation allocations[SC_LEFT_OUT_ALLOCATIONS_MAX];
    struct sc_hazard_copy nodes[SC_LEFT_OUT_CAPTURED_MAX];
    struct node_use node_uses[SC_LEFT_OUT_NODE_USES_MAX];
};

struct sc_left_out *sc_left_out_new(void)
{
    return sc_pages_map(sizeof(struct sc_left_out));
}

void sc_left_out_free(struct sc_left_out *left_out)
{
    if (left_out)
        sc_pages_unmap(left_out, sizeof *left_out);
}

/* What lies behind the counts is not read. */
void sc_left_out_clear(struct sc_left_out *left_out)
{
    memset(left_out, 0, offsetof(struct sc_left_out, sites));
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

static unsigned count_of(const struct sc_left_out_op *op)
{
    return op->use_count + op->name_count;
}

/* The uses come first, and then the names. */
static struct sc_device_use use_of(const struct sc_left_out_op *op, unsigned i)
{
    if (i < op->use_count)
        return op->uses[i];
    return sc_device_use_named(op->names[i - op->use_count]);
}

void sc_left_out_captured(struct sc_left_out *left_out, const struct sc_hazard_copy *what,
                          const struct sc_left_out_op *op)
{
    uint32_t order = ++left_out->order;
    unsigned count = count_of(op);
    left_out->captured_count++;
    if (op->is_partly_known && !left_out->first_unknown)
        left_out->first_unknown = order;
    if (count == 0 ||
        !has_room(left_out, left_out->node_count < SC_LEFT_OUT_CAPTURED_MAX &&
                                left_out->node_use_count + count <= SC_LEFT_OUT_NODE_USES_MAX))
        return;
    uint32_t node = left_out->node_count++;
    left_out->nodes[node] = *what;
    for (unsigned i = 0; i < count; i++)
        left_out->node_uses[left_out->node_use_count++] =
            (struct node_use){use_of(op, i), op->function, order, node};
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
    while (site < left_out->site_count && (left_out->sites[site].event.stack != what->event.stack ||
                                           left_out->sites[site].event.api != what->event.api ||
                                           left_out->sites[site].ignored != what->ignored))
        site++;
    return site;
}

void sc_left_out_beside(struct sc_left_out *left_out, const struct sc_hazard *what,
                        const struct sc_left_out_op *op)
{
    uint32_t order = ++left_out->order;
    unsigned count = count_of(op);
    uint32_t site = site_of(left_out, what);
    if (count == 0 ||
        !has_room(left_out, site < SC_LEFT_OUT_SITES_MAX &&
                                left_out->beside_use_count + count <= SC_LEFT_OUT_USES_MAX))
        return;
    if (site == left_out->site_count)
        left_out->sites[left_out->site_count++] = *what;
    for (unsigned i = 0; i < count; i++) {
        struct sc_device_use use = use_of(op, i);
        if (!is_set_up(left_out, &use))
            left_out->beside_uses[left_out->beside_use_count++] =
                (struct beside_use){use, op->function, order, site};
    }
}

/* What was used at these addresses before is gone. */
static void forget_former(struct sc_left_out *left_out, uintptr_t address, size_t size_bytes)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < left_out->beside_use_count; i++) {
        const struct sc_shape *shape = &left_out->beside_uses[i].is.shape;
        if (shape->address >= address + size_bytes ||
            shape->address + sc_shape_hull_bytes(shape) <= address)
            left_out->beside_uses[kept++] = left_out->beside_uses[i];
    }
    left_out->beside_use_count = kept;
}

void sc_left_out_allocated(struct sc_left_out *left_out, uintptr_t address, size_t size_bytes)
{
    forget_former(left_out, address, size_bytes);
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

static uintptr_t end_of(const struct sc_device_use *use)
{
    return use->shape.address + sc_shape_hull_bytes(&use->shape);
}

bool sc_left_out_writes(const struct sc_left_out *left_out, size_t node_count,
                        struct sc_graph_write *write)
{
    write->written.count = write->named.count = 0;
    if (left_out->is_full || left_out->first_unknown || left_out->captured_count != node_count)
        return false;
    for (unsigned i = 0; i < left_out->node_use_count; i++) {
        const struct sc_device_use *use = &left_out->node_uses[i].is;
        if (use->access == SC_DEVICE_WRITES)
            sc_graph_write_add(&write->written, use->shape.address, end_of(use) - 1);
        else if (use->access == SC_DEVICE_NAMES)
            sc_graph_write_add(&write->named, use->shape.address, use->shape.address);
    }
    return true;
}

/* Most do not, which is to be seen at once. */
static bool touch(const struct sc_device_use *a, const struct sc_device_use *b)
{
    return a->shape.address < end_of(b) && b->shape.address < end_of(a) &&
           sc_shapes_folded_touch(&a->shape, &a->fold, &b->shape, &b->fold);
}

static bool has_same_bytes(const struct sc_device_use *one, const struct sc_device_use *other)
{
    const struct sc_shape *a = &one->shape, *b = &other->shape;
    return a->address == b->address && a->width_bytes == b->width_bytes && a->rows == b->rows &&
           (a->rows == 1 || a->pitch_bytes == b->pitch_bytes) &&
           one->fold.width_bytes == other->fold.width_bytes &&
           one->fold.pitch_bytes == other->fold.pitch_bytes;
}

static bool names(const struct node_use *node, uint32_t order, uintptr_t address)
{
    return node->order == order && node->is.access == SC_DEVICE_NAMES &&
           node->is.shape.address == address;
}

/* Has the captured kernel all the addresses that the kernel beside the capture has, and are these
 * two or more? */
static bool has_all_names(const struct sc_left_out *left_out, uint32_t captured, uint32_t beside)
{
    unsigned count = 0;
    for (unsigned i = 0; i < left_out->beside_use_count; i++) {
        const struct beside_use *use = &left_out->beside_uses[i];
        unsigned n = 0;
        if (use->order != beside)
            continue;
        while (n < left_out->node_use_count &&
               !names(&left_out->node_uses[n], captured, use->is.shape.address))
            n++;
        if (n == left_out->node_use_count)
            return false;
        count++;
    }
    return count >= 2;
}

/* Is it a kernel that was tried in the place of another one? The graph has that one, with the same
 * memory. */
static bool is_variant(const struct sc_left_out *left_out, const struct beside_use *use)
{
    if (use->is.access != SC_DEVICE_NAMES)
        return false;
    for (unsigned i = 0; i < left_out->node_use_count; i++) {
        const struct node_use *node = &left_out->node_uses[i];
        if (names(node, node->order, use->is.shape.address) &&
            has_all_names(left_out, node->order, use->order))
            return true;
    }
    return false;
}

/* Does the graph do the same? */
static bool is_in_graph(const struct sc_left_out *left_out, const struct beside_use *use)
{
    for (unsigned i = 0; i < left_out->node_use_count; i++) {
        const struct node_use *node = &left_out->node_uses[i];
        if (node->is.access == use->is.access && node->is.direction == use->is.direction &&
            node->function == use->function && has_same_bytes(&node->is, &use->is))
            return true;
    }
    return is_variant(left_out, use);
}

/* A kernel may write from an address on, to the end of the allocation, which begins at `base`. */
static bool may_write(const struct sc_device_use *writer, const struct sc_device_use *memory,
                      uintptr_t base)
{
    uintptr_t address = writer->shape.address;
    if (writer->access == SC_DEVICE_NAMES)
        return address >= base && address < end_of(memory);
    return writer->access == SC_DEVICE_WRITES && touch(writer, memory);
}

/* Does captured work make, before that, what the use reads? A kernel of which nothing is known may.
 */
static bool is_made_in_graph(const struct sc_left_out *left_out, const struct node_use *use)
{
    uintptr_t base = left_out->base_of(use->is.shape.address);
    if (left_out->first_unknown && left_out->first_unknown < use->order)
        return true;
    for (unsigned i = 0; i < left_out->node_use_count; i++) {
        const struct node_use *earlier = &left_out->node_uses[i];
        if (earlier->order >= use->order)
            return false;
        if (may_write(&earlier->is, &use->is, base))
            return true;
    }
    return false;
}

/* Does a captured copy or memset write there later, for the next launch? `memory`: what the node
 * reads, as far as it is known. */
static bool is_made_for_next(const struct sc_left_out *left_out, const struct beside_use *use,
                             const struct node_use *node)
{
    const struct sc_device_use *memory = node->is.access == SC_DEVICE_NAMES ? &use->is : &node->is;
    for (unsigned i = left_out->node_use_count; i-- > 0;) {
        const struct node_use *later = &left_out->node_uses[i];
        if (later->order <= node->order)
            return false;
        if (later->is.access == SC_DEVICE_WRITES && touch(&later->is, memory))
            return true;
    }
    return false;
}

/* Is what the node reads in each launch what work beside the capture has left? */
static bool is_left_to_it(const struct sc_left_out *left_out, const struct beside_use *use,
                          const struct node_use *node)
{
    return !is_made_in_graph(left_out, node) && !is_made_for_next(left_out, use, node);
}

/* Has work beside the capture written there, between the two? */
static bool is_made_beside(const struct sc_left_out *left_out, const struct beside_use *use,
                           const struct node_use *written)
{
    uintptr_t base = left_out->base_of(use->is.shape.address);
    for (unsigned i = 0; i < left_out->beside_use_count; i++) {
        const struct beside_use *earlier = &left_out->beside_uses[i];
        if (earlier->order >= use->order)
            return false;
        if (earlier->order > written->order && may_write(&earlier->is, &use->is, base))
            return true;
    }
    return false;
}

static bool belong_together(const struct sc_left_out *left_out, const struct beside_use *use,
                            const struct node_use *node)
{
    bool writes = node->is.access == SC_DEVICE_WRITES;
    bool is_result = node->is.access == SC_DEVICE_READS && node->is.direction == SC_D2H;
    if (use->is.access == SC_DEVICE_WRITES)
        return !writes && is_left_to_it(left_out, use, node);
    if (writes)
        return node->order < use->order && !is_made_beside(left_out, use, node);
    return use->is.access == SC_DEVICE_NAMES && is_result && node->order > use->order &&
           is_left_to_it(left_out, use, node);
}

static const struct node_use *find_node(const struct sc_left_out *left_out,
                                        const struct beside_use *use)
{
    for (unsigned i = 0; i < left_out->node_use_count; i++) {
        const struct node_use *node = &left_out->node_uses[i];
        if (touch(&use->is, &node->is) && belong_together(left_out, use, node))
            return is_in_graph(left_out, use) ? NULL : node;
    }
    return NULL;
}

/* Kernels of which not all is known may use any memory, and so may operations that did not fit. */
static bool has_to_do_with_graph(const struct sc_left_out *left_out, const struct beside_use *use)
{
    if (left_out->first_unknown || left_out->is_full)
        return true;
    for (unsigned i = 0; i < left_out->node_use_count; i++) {
        const struct node_use *node = &left_out->node_uses[i];
        uintptr_t base = left_out->base_of(use->is.shape.address);
        if (may_write(&node->is, &use->is, base) || touch(&use->is, &node->is))
            return true;
    }
    return false;
}

/* Whether the graph lacks it cannot be told. */
static bool is_undecided(const struct sc_left_out *left_out, const struct beside_use *use)
{
    return use->is.access == SC_DEVICE_WRITES && !has_to_do_with_graph(left_out, use);
}

static void judge_site(const struct sc_left_out *left_out, uint32_t site, sc_left_out_visit *visit,
                       void *context)
{
    struct sc_left_out_finding finding = {.beside = &left_out->sites[site]};
    for (unsigned i = 0; i < left_out->beside_use_count; i++) {
        const struct beside_use *use = &left_out->beside_uses[i];
        if (use->site != site)
            continue;
        const struct node_use *node = find_node(left_out, use);
        if (node) {
            finding.use = &use->is;
            finding.captured = &left_out->nodes[node->node];
            finding.captured_use = &node->is;
            break;
        }
        if (!finding.use && is_undecided(left_out, use))
            finding.use = &use->is;
    }
    if (finding.use)
        visit(context, &finding);
}

void sc_left_out_each(struct sc_left_out *left_out, sc_left_out_base *base_of,
                      sc_left_out_visit *visit, void *context)
{
    left_out->base_of = base_of;
    for (uint32_t site = 0; site < left_out->site_count; site++)
        judge_site(left_out, site, visit, context);
}
