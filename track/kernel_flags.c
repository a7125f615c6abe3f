#include "track/kernel_flags.h"

#include "common/checks.h"
#include "common/peek.h"
#include "track/order.h"

#include "common/poison.h"

enum { WORDS = SC_KERNEL_FLAG_BYTES_MAX / sizeof(uint64_t), LOOKS_MAX = 32, STEPS_MAX = 1024 };

/* Returns a digest of a small range, which may hold flags (words by which a kernel tells the host
 * how far it has come); 0: the range is larger, or cannot be read. It is never 0 otherwise, and is
 * read in a way that copes with memory that is gone. */
uint64_t sc_kernel_flags_digest(struct sc_inflight *inflight, uint32_t range)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    const struct sc_grid_node *node = &sc_inflight_range(inflight, range)->node;
    uintptr_t address = atomic_load_explicit(&node->address, memory_order_relaxed);
    size_t size_bytes = atomic_load_explicit(&node->size_bytes, memory_order_relaxed);
    uint64_t words[WORDS] = {0};
    uint64_t digest = 0x9E3779B97F4A7C15u;
    if (size_bytes > sizeof words || !sc_peek_anyhow(words, address, size_bytes))
        return 0;
    for (unsigned i = 0; i < WORDS; i++) {
        digest = (digest ^ words[i]) * 0xC2B2AE3D27D4EB4Fu;
        digest ^= digest >> 29;
    }
    return digest | 1;
}

/* A kernel may have told the host, by a flag, that the stream's work up to the number is done. */
static void mark_told(struct sc_stream *stream, uint64_t number)
{
    if (stream->told < number)
        stream->told = number;
}

/* Have the bytes of the operation's flag changed since its launch? Then its kernel may have set it.
 * An operation whose range was removed says nothing: its memory may be another one's. */
static bool has_flag_changed(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    if (!info->digest || !info->range)
        return false;
    uint64_t now = sc_kernel_flags_digest(inflight, info->range);
    return now && now != info->digest;
}

/* May a kernel have told the host that the operation is done? Looks at the flags of its own kernel
 * and of later ones on the stream, since any of them may have set a flag whose address several
 * have. The looks are bounded: each reads memory. */
bool sc_kernel_flags_may_show_kernel_done(struct sc_inflight *inflight, uint32_t op)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    const struct sc_ticket *ticket = &sc_inflight_op(inflight, op)->info.ticket;
    struct sc_stream *stream = sc_order_stream(inflight->order, ticket->stream);
    unsigned looks = 0, steps = 0;
    uint32_t at = stream->flagged < ticket->number ? 0 : stream->last_op;
    while (at && looks < LOOKS_MAX && steps++ < STEPS_MAX && stream->told < ticket->number) {
        const struct sc_op *other = sc_inflight_op(inflight, at);
        if (other->info.ticket.number < ticket->number)
            break;
        looks += other->info.digest != 0;
        if (has_flag_changed(inflight, &other->info))
            mark_told(stream, ticket->number);
        at = other->stream_previous;
    }
    return stream->told >= ticket->number;
}

/* A kernel is launched again with the flag's address: if the flag differs from before the earlier
 * launch, that kernel may have told the host of its end. What the flag then says is compared with
 * the new launch's bytes. */
void sc_kernel_flags_compare_digests(struct sc_inflight *inflight, uint32_t earlier,
                                     const struct sc_op_info *info)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    struct sc_stream *stream = sc_order_stream(inflight->order, info->ticket.stream);
    const struct sc_op *before = earlier ? sc_inflight_op(inflight, earlier) : NULL;
    stream->flagged = info->ticket.number;
    if (before && before->info.digest && before->info.digest != info->digest)
        mark_told(stream, before->info.ticket.number);
}
