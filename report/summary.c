#include "report/summary.h"

#include "common/hazard.h"
#include "common/hazard_words.h"
#include "common/op_kinds.h"
#include "common/text.h"
#include "ledger/limit_events.h"
#include "report/call_words.h"
#include "report/plain.h"
#include "report/suppressing.h"
#include "report/suppressions.h"
#include "track/budget.h"
#include "track/no_verdicts.h"

#include <string.h>

#include "common/poison.h"

/* Returns the "s" of a plural, or "" for one. */
static const char *plural_s(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* Returns the "es" of "touches", or "" for one. */
static const char *plural_touch(uint64_t count)
{
    return count == 1 ? "" : "es";
}

/* Returns the word for the hazard's memory: pinned, device, ... */
static const char *kind_of(const struct sc_hazard *hazard)
{
    return sc_hazard_buffer_kind_string(hazard->buffer_kind);
}

/* The three arguments that describe the call of a record: its function, the runtime's, its stack.
 */
#define CALL_OF(record) (record).api, (record).runtime_api, (record).stack

/* Appends the function that was called, `preposition`, and the place of the user's code that
 * called it. */
static void put_call(struct sc_text *text, const char *api, const char *runtime_api, uint32_t stack,
                     const char *preposition)
{
    sc_call_words_put_api(text, api, runtime_api, stack);
    sc_call_words_put_place(text, preposition, stack);
}

/* Appends a name from outside, which may neither steer the terminal nor begin a line. */
static void put_name(struct sc_text *text, const char *name)
{
    sc_plain_put(text, name, strlen(name));
}

/* Returns what the operation does with the hazard's buffer, which may be either side of a copy. */
static const char *verb_of(const struct sc_hazard *hazard)
{
    bool of_device = hazard->buffer_kind == SC_DEVICE;
    switch (hazard->copy.direction) {
    case SC_H2D:
        return of_device ? "write " : "read ";
    case SC_D2H:
        return of_device ? "read " : "write ";
    case SC_ALLOCATION:
        return "allocate ";
    case SC_FREE:
        return "free ";
    default:
        return "use ";
    }
}

/* Appends how the call that came too early relates to the operation: "while cudaMemcpyAsync was
 * still to read " (observed: it was incomplete), or "with nothing that waits for cudaMemcpyAsync
 * to read " (latent: it was complete, by luck). found_later: nobody saw the write, but the source
 * was found changed. */
static void put_relation(struct sc_text *text, const struct sc_hazard *hazard)
{
    bool is_observed = hazard->certainty == SC_OBSERVED;
    if (hazard->found_later) {
        sc_text_put(text, "found changed what ");
        sc_call_words_put_api(text, CALL_OF(hazard->copy));
        sc_text_put(text, " was to read: ");
        return;
    }
    sc_text_put(text, is_observed ? "while " : "with nothing that waits for ");
    sc_call_words_put_api(text, CALL_OF(hazard->copy));
    sc_text_format(text, "%s%s", is_observed ? " was still to " : " to ", verb_of(hazard));
}

/* Appends which capture a call breaks that no capture allows (SC3xx): no memory is hurt. */
static void put_capture(struct sc_text *text, const struct sc_hazard *hazard)
{
    sc_text_format(text, "while stream %#lx captures, begun by ", hazard->copy.stream);
    put_call(text, CALL_OF(hazard->copy), " at ");
}

/* Returns what a node does with memory: a copy to the device reads host memory. */
static const char *use_of(enum sc_direction direction)
{
    return direction == SC_H2D ? "reads " : direction == SC_D2H ? "writes " : "uses ";
}

/* Appends which node of a graph uses memory that is gone, and who freed it, if that is known. */
static void put_node(struct sc_text *text, const struct sc_hazard *hazard)
{
    sc_text_format(text, "of a graph that %s%'lu of %s memory, by ", use_of(hazard->copy.direction),
                   hazard->copy.size_bytes, kind_of(hazard));
    put_call(text, CALL_OF(hazard->copy), " at ");
    if (!hazard->freed.api)
        return;
    sc_text_put(text, "\n    freed before by ");
    put_call(text, CALL_OF(hazard->freed), " at ");
}

/* Appends of work that ran once, at once, while its thread captured a graph, what in the graph
 * uses the same memory: "ran once, beside a capture whose graph has cudaMemcpyAsync on the same 4
 * KB of device memory". Launches of the graph lack that work. may_be_meant: nothing in the graph
 * uses the memory, and a call after a launch reads it. */
static void put_work_beside(struct sc_text *text, const struct sc_hazard *hazard)
{
    sc_text_put(text, hazard->may_be_meant
                          ? "ran once, beside a capture; after a launch of the graph, "
                          : "ran once, beside a capture whose graph has ");
    sc_call_words_put_api(text, CALL_OF(hazard->copy));
    sc_text_put(text, hazard->may_be_meant ? " reads the same " : " on the same ");
    sc_text_format(text, "%'lu of %s memory", hazard->buffer_size_bytes, kind_of(hazard));
    sc_call_words_put_place(text, hazard->may_be_meant ? " at " : ", captured at ",
                            hazard->copy.stack);
}

/* Appends that a kernel has an address of the memory among its parameters. Whether it uses the
 * memory, and which bytes, is not known. */
static void put_kernel(struct sc_text *text, const struct sc_hazard *hazard)
{
    bool is_observed = hazard->certainty == SC_OBSERVED;
    sc_text_put(text, is_observed ? "while " : "with nothing that waits for ");
    sc_call_words_put_api(text, CALL_OF(hazard->copy));
    sc_text_format(text, "%s, of a kernel with an address there among its parameters",
                   is_observed ? " was still to run" : "");
    sc_call_words_put_place(text, ", issued at ", hazard->copy.stack);
}

/* Appends "a copy to the device that writes 64 KB". */
static void put_racing_node(struct sc_text *text, const struct sc_hazard_node *node)
{
    static const char *const words[] = {
        [SC_H2D] = "a copy to the device", [SC_D2H] = "a copy to the host",
        [SC_D2D] = "a copy on the device", [SC_MEMSET] = "a memset",
        [SC_NO_DIRECTION] = NULL,
    };
    const char *word = words[node->direction];
    sc_text_format(text, "%s that %s %'lu", word ? word : "a node",
                   node->reads ? "reads" : "writes", node->size_bytes);
}

/* Appends the call that added the node to the graph, if it was seen. */
static void put_author(struct sc_text *text, const struct sc_hazard_node *node)
{
    if (!node->author.api)
        return;
    sc_text_put(text, ", added by ");
    put_call(text, CALL_OF(node->author), " at ");
}

/* Appends the two nodes of a graph that use the same bytes in no order, and the calls that added
 * them; or, if these are not known, the call that made the graph ready to run. */
static void put_race(struct sc_text *text, const struct sc_hazard *hazard)
{
    sc_text_put(text, "of a graph with no order between ");
    put_racing_node(text, &hazard->nodes[0]);
    sc_text_format(text, " of %s memory", kind_of(hazard));
    put_author(text, &hazard->nodes[0]);
    sc_text_put(text, "\n    and ");
    put_racing_node(text, &hazard->nodes[1]);
    sc_text_put(text, " there");
    put_author(text, &hazard->nodes[1]);
    if (hazard->nodes[0].author.api)
        return;
    sc_text_put(text, "\n    made ready by ");
    put_call(text, CALL_OF(hazard->copy), " at ");
}

/* Appends which blocks are still held (SC601), or do not fit the device (SC602), and who allocated
 * them. */
static void put_memory(struct sc_text *text, const struct sc_hazard *hazard)
{
    sc_text_format(text, "with %lu block%s%s, %'lu of %s memory in all, ", hazard->blocks,
                   plural_s(hazard->blocks), hazard->room_bytes ? "" : " still held",
                   hazard->buffer_size_bytes, kind_of(hazard));
    if (hazard->room_bytes)
        sc_text_format(text,
                       "for device %d, which has %'lu: %'lu lies on the host, and on no other "
                       "GPU\n    most of it ",
                       hazard->copy.device, hazard->room_bytes,
                       hazard->buffer_size_bytes - hazard->room_bytes);
    sc_text_put(text, "by ");
    put_call(text, CALL_OF(hazard->copy), " at ");
}

/* Appends, of a limit that no longer takes effect: "of CU_LIMIT_MALLOC_HEAP_SIZE: 64 MB was asked
 * for, and 8 MB stays in force since cuLaunchKernel of my_kernel at a.c:3". (%' writes bytes with
 * their unit.) */
static void put_limit(struct sc_text *text, const struct sc_hazard *hazard)
{
    const struct sc_hazard_limit *limit = &hazard->limit;
    sc_text_format(text, "of %s: %'lu was asked for, and %'lu stays in force since ", limit->name,
                   limit->asked, limit->in_force);
    if (!hazard->copy.stack) {
        sc_text_put(text, "a launch that is not known");
        return;
    }
    sc_call_words_put_api(text, CALL_OF(hazard->copy));
    if (limit->kernel) {
        sc_text_put(text, " of ");
        put_name(text, limit->kernel);
    }
    sc_call_words_put_place(text, " at ", hazard->copy.stack);
}

/* Appends what most hazards have: how the call relates to an operation, how much memory that uses,
 * and where it was issued. */
static void put_usual(struct sc_text *text, const struct sc_hazard *hazard)
{
    put_relation(text, hazard);
    sc_text_format(text, "%'lu of %s memory", hazard->copy.size_bytes, kind_of(hazard));
    sc_call_words_put_place(text, ", issued at ", hazard->copy.stack);
}

/* Appends what the event (the call or access that came too early) hurt, in the words for this kind
 * of hazard. */
static void put_copy(struct sc_text *text, const struct sc_hazard *hazard)
{
    if (hazard->limit.name)
        put_limit(text, hazard);
    else if (sc_hazard_is_race(hazard))
        put_race(text, hazard);
    else if (sc_hazard_subject(hazard->code) == SC_OF_MEMORY)
        put_memory(text, hazard);
    else if (sc_hazard_subject(hazard->code) == SC_OF_NEIGHBOUR)
        put_work_beside(text, hazard);
    else if (sc_hazard_subject(hazard->code) == SC_OF_NODE)
        put_node(text, hazard);
    else if (hazard->buffer_kind == SC_NO_BUFFER)
        put_capture(text, hazard);
    else if (hazard->copy.direction == SC_NO_DIRECTION)
        put_kernel(text, hazard);
    else
        put_usual(text, hazard);
}

/* Returns in words what the library did about the hazard: by the action, in some cases by the
 * hazard's code, too (the rows SC_OUTCOME of hazard.def). SC402 is a graph that uses the stack of
 * a function that has returned: if the graph writes there, a copy is written in its place, which a
 * row cannot tell apart from a read. */
static const char *outcome_words(const struct sc_hazard *hazard)
{
    static const char *const outcomes[] = {
#define SC_ACTION(action, word, outcome) [action] = outcome,
#include "common/hazard.def"
    };
    if (hazard->code == SC402 && hazard->action == SC_ACTION_SNAPSHOTTED &&
        hazard->copy.direction != SC_H2D)
        return "healed: what the graph wrote there was dropped";
#define SC_OUTCOME(its_code, its_action, outcome)                                                  \
    if (hazard->code == its_code && hazard->action == its_action)                                  \
        return outcome;
#include "common/hazard.def"
    return outcomes[hazard->action];
}

/* Appends a time as people read it: "1.3 ms", cut to tenths. */
static void put_time(struct sc_text *text, uint64_t ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{" s", 1000000000}, {" ms", 1000000}, {" us", 1000}};
    unsigned i = 0;
    while (i < 2 && ns < units[i].ns)
        i++;
    uint64_t tenths = ns / (units[i].ns / 10);
    sc_text_format(text, "%lu.%lu%s", tenths / 10, tenths % 10, units[i].name);
}

/* Appends how long the copy still ran after the event, or since when it was over, as CUPTI timed
 * it; of several equal hazards the longest time. */
static void put_remaining(struct sc_text *text, const struct sc_hazard_counts *seen)
{
    if (!seen->is_timed)
        return;
    bool runs = seen->remaining_ns > 0;
    sc_text_format(text, "%s%s", runs ? "    the copy had " : "    the copy had been over for ",
                   runs && seen->count > 1 ? "up to " : "");
    put_time(text, (uint64_t)(runs ? seen->remaining_ns : -seen->remaining_ns));
    sc_text_put(text, runs ? " left to run\n" : "\n");
}

/* Appends the label (a test, request or step, as the program calls it) that the hazard happened
 * in; of several equal ones the first's. */
static void put_label(struct sc_text *text, const struct sc_hazard_counts *seen)
{
    if (seen->first.label[0] == '\0')
        return;
    sc_text_put(text, seen->count > 1 ? "    first in " : "    in ");
    put_name(text, seen->first.label);
    sc_text_char(text, '\n');
}

/* Writes for people one hazard: its code and count, the call that came too early and what it hurt,
 * each with its place, and what the library did. */
void sc_summary_write_hazard(struct sc_text *text, const struct sc_hazard_counts *seen)
{
    const struct sc_hazard *hazard = &seen->first;
    sc_text_format(text, "  %s %s, %s, %lu time%s\n    ", sc_hazard_code_string(hazard->code),
                   sc_hazard_name(hazard->code), sc_hazard_certainty_string(hazard->certainty),
                   seen->count, plural_s(seen->count));
    put_call(text, CALL_OF(hazard->event), " at ");
    sc_text_put(text, "\n    ");
    put_copy(text, hazard);
    sc_text_char(text, '\n');
    put_remaining(text, seen);
    put_label(text, seen);
    sc_text_format(text, "    %s\n", outcome_words(hazard));
}

/* Appends how much got no verdict, neither correct nor a hazard: ", 12 operations not watched, 2
 * touches and 1 operation not judged". A touch is an access by the host. */
static void put_what_is_not_judged(struct sc_text *text, const struct sc_no_verdicts *counts)
{
    uint64_t unwatched = sc_no_verdicts_of_unit(counts, SC_NO_VERDICT_UNWATCHED);
    uint64_t touches = sc_no_verdicts_of_unit(counts, SC_NO_VERDICT_TOUCHES);
    uint64_t operations = sc_no_verdicts_of_unit(counts, SC_NO_VERDICT_OPERATIONS);
    if (unwatched > 0)
        sc_text_format(text, ", %lu operation%s not watched", unwatched, plural_s(unwatched));
    if (touches == 0 && operations == 0)
        return;
    sc_text_put(text, ", ");
    if (touches > 0)
        sc_text_format(text, "%lu touch%s", touches, plural_touch(touches));
    sc_text_put(text, touches > 0 && operations > 0 ? " and " : "");
    if (operations > 0)
        sc_text_format(text, "%lu operation%s", operations, plural_s(operations));
    sc_text_put(text, " not judged");
}

/* Appends the first line: how many hazards, advisory notes and suppressed hazards there were. */
static void put_head(struct sc_text *text, const struct sc_summary *summary)
{
    const struct sc_report_counts *counts = &summary->counts;
    if (counts->hazards == 0)
        sc_text_format(text, "safecopy: no hazards in %lu operation%s", summary->totals->operations,
                       plural_s(summary->totals->operations));
    else
        sc_text_format(text, "safecopy: %lu hazard%s at %u place%s (%lu observed, %lu latent)",
                       counts->hazards, plural_s(counts->hazards), summary->distinct,
                       plural_s(summary->distinct), counts->observed, counts->latent);
    if (counts->advisories > 0)
        sc_text_format(text, ", %lu advisory note%s", counts->advisories,
                       plural_s(counts->advisories));
    if (counts->suppressed > 0)
        sc_text_format(text, ", %lu suppressed", counts->suppressed);
    put_what_is_not_judged(text, summary->totals->no_verdicts);
    sc_text_char(text, '\n');
}

/* Appends what was in flight (issued, not known to be done) when the context was lost: "in flight:
 * 2 operations on 1 stream; the latest cudaMemcpyAsync at ...". */
static void put_in_flight(struct sc_text *text, const struct sc_postmortem_brief *brief)
{
    sc_text_format(text, "    in flight: %u operation%s", brief->in_flight,
                   plural_s(brief->in_flight));
    if (brief->in_flight > 0) {
        sc_text_format(text, " on %u stream%s; the latest ", brief->streams,
                       plural_s(brief->streams));
        put_call(text, brief->operation.is.api, NULL, brief->operation.is.stack, " at ");
    }
    sc_text_char(text, '\n');
}

/* Appends how much memory was given back before the context was lost, and the latest: a kernel
 * that used it afterwards may be the cause. */
static void put_frees(struct sc_text *text, const struct sc_postmortem_brief *brief)
{
    const struct sc_postmortem_operation *freed = &brief->freed;
    uint64_t now_ns = brief->call.time_ns;
    if (brief->frees == 0)
        return;
    sc_text_format(text, "    memory given back before: %u block%s; the latest %#lx by ",
                   brief->frees, plural_s(brief->frees), freed->is.address);
    put_call(text, freed->is.api, NULL, freed->is.stack, " at ");
    sc_text_put(text, ", ");
    put_time(text, now_ns > freed->time_ns ? now_ns - freed->time_ns : 0);
    sc_text_put(text, " before\n");
}

/* Appends which kernel uses the device's heap, a common cause of an illegal address: "a kernel
 * that calls malloc gets NULL when the heap (8 MB) is used up: my_kernel uses it, launched at
 * ...". (%' writes bytes with their unit.) Nothing if none is known. */
static void put_heap(struct sc_text *text, const struct sc_postmortem_brief *brief)
{
    const struct sc_limit_event *user = brief->heap_user;
    if (!user)
        return;
    sc_text_format(text,
                   "    a kernel that calls malloc gets NULL when the heap (%'lu) is used up: ",
                   user->in_force);
    put_name(text, user->kernel[0] != '\0' ? user->kernel : user->api);
    sc_call_words_put_place(
        text, user->by == SC_LIMIT_BY_MODULE ? " calls it, loaded at " : " uses it, launched at ",
        user->stack);
    sc_text_char(text, '\n');
}

/* Appends the post-mortem: the call that got the error, what was in flight, what had been given
 * back, and who uses the device's heap. */
static void put_postmortem(struct sc_text *text, const struct sc_postmortem_brief *brief)
{
    if (!brief->name)
        return;
    sc_text_format(
        text, "%s%s",
        brief->error ? "  the context was lost: " : "  the program aborted: ", brief->name);
    if (brief->error) {
        sc_text_format(text, " (%d), first returned by ", brief->error);
        sc_call_words_put_api(text, CALL_OF(brief->call));
    }
    sc_call_words_put_place(text, brief->error ? " at " : ", at ", brief->call.stack);
    sc_text_char(text, '\n');
    put_in_flight(text, brief);
    put_frees(text, brief);
    put_heap(text, brief);
}

/* Does the user want to know more than what happened (verbosity=2)? */
static bool tells_more(const struct sc_summary *summary)
{
    return summary->options->verbosity >= 2;
}

/* Returns in words why CUPTI told the library of no calls (`state` of struct sc_report_cupti);
 * NULL: it did, or nobody asked it. */
static const char *why_unheard(const char *state)
{
    if (!state)
        return NULL;
    static const char *const words[][2] = {
        {"absent", "no libcupti was found"},
        {"too-old", "libcupti is too old for this driver"},
        {"held", "another tool holds CUPTI"},
        {"yielded", "only until another tool came, which holds CUPTI now"},
        {"failed", "CUPTI does not work here"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i][0], state) == 0)
            return words[i][1];
    }
    return NULL;
}

/* Says how much the library did not see: driver calls that came through no wrapper, and, if the
 * user wants to know, why CUPTI could tell of none. */
static void put_coverage(struct sc_text *text, const struct sc_summary *summary)
{
    const struct sc_report_totals *totals = summary->totals;
    bool is_wanted = summary->options->cupti == SC_CUPTI_REQUIRE || tells_more(summary);
    const char *why = is_wanted ? why_unheard(totals->cupti.state) : NULL;
    if (totals->coverage.missed > 0)
        sc_text_format(text, "  %lu of %lu call%s passed the library by and were only followed\n",
                       totals->coverage.missed, totals->coverage.calls,
                       plural_s(totals->coverage.calls));
    if (!why)
        return;
    sc_text_format(text, "  coverage not checked: %s", why);
    if (totals->cupti.detail && totals->cupti.detail[0] != '\0') {
        sc_text_put(text, " (");
        put_name(text, totals->cupti.detail);
        sc_text_char(text, ')');
    }
    sc_text_char(text, '\n');
}

/* Appends a line with the count, if it is not 0. */
static void put_noted(struct sc_text *text, const char *words, uint64_t count)
{
    if (count == 0)
        return;
    sc_text_format(text, "%s%lu\n", words, count);
}

/* Says what the library did or saw that is no hazard, but explains a changed time or an open
 * question; each with its count. */
static void put_what_was_noted(struct sc_text *text, const struct sc_summary *summary)
{
    put_noted(text,
              "  small copies that waited for work that may write their source, as the driver "
              "would not: ",
              summary->totals->taken_early);
    put_noted(text,
              "  sources of batches that were copied in the call, as the driver promises and does "
              "not do: ",
              summary->totals->driver_late);
    put_noted(text,
              "  memory opened from other processes or handed to them, whose work there is not "
              "seen: ",
              summary->totals->shared_memory);
}

/* Appends how often pages were protected by which mechanism: "guarded: 3 ranges by mprotect, 20 by
 * userfaultfd", and why there is no userfaultfd. Only for users who have chosen a mechanism or
 * want to know more. */
static void put_guard(struct sc_text *text, const struct sc_summary *summary)
{
    const struct sc_report_guard *guard = &summary->totals->guard;
    enum sc_userfaultfd_state state = guard->userfaultfd;
    bool is_open = state == SC_USERFAULTFD_OPENED || state == SC_USERFAULTFD_UNASKED;
    if (summary->options->guard != SC_GUARD_MPROTECT && summary->options->guard != SC_GUARD_UFFD &&
        !tells_more(summary))
        return;
    sc_text_format(text, "  guarded: %lu range%s by mprotect, %lu by userfaultfd%s%s\n",
                   guard->by_mprotect, plural_s(guard->by_mprotect), guard->by_userfaultfd,
                   is_open ? "" : "; no userfaultfd: ", is_open ? "" : sc_userfaultfd_words(state));
}

/* Appends how many operations were guarded within guard_budget, the share of time that protecting
 * pages may take, and the call sites with most that were not. Nothing if all were. */
static void put_budget(struct sc_text *text, const struct sc_budget *budget)
{
    enum { SITES_SHOWN = 3 };
    struct sc_budget_site totals, sites[SITES_SHOWN];
    if (!budget)
        return;
    unsigned count = sc_budget_read(budget, &totals, sites, SITES_SHOWN);
    if (totals.guarded == totals.operations)
        return;
    sc_text_format(text, "  guard_budget: %lu of %lu operation%s guarded\n", totals.guarded,
                   totals.operations, plural_s(totals.operations));
    for (unsigned i = 0; i < count && sites[i].guarded < sites[i].operations; i++) {
        sc_text_format(text, "    %lu of %lu", sites[i].guarded, sites[i].operations);
        sc_call_words_put_place(text, " at ", sites[i].stack);
        sc_text_char(text, '\n');
    }
}

/* Warns if CUPTI dropped records of when copies ran: then some hazards have no time. */
static void put_timeline(struct sc_text *text, const struct sc_summary *summary)
{
    const struct sc_report_timeline *timeline = &summary->totals->timeline;
    uint64_t all = timeline->dropped + timeline->records;
    if (timeline->dropped > 0)
        sc_text_format(text, "  timeline: %lu of %lu record%s dropped\n", timeline->dropped, all,
                       plural_s(all));
}

/* Appends a line for each reason why operations or accesses (`unit`, called `noun`) got no
 * verdict, and `title` before the first; NULL: the title is there already. */
static void put_reasons(struct sc_text *text, const struct sc_no_verdicts *counts,
                        const char *title, enum sc_no_verdict_unit unit, const char *noun,
                        const char *plural_of(uint64_t count))
{
    static const char *const words[] = {
#define X(reason, name, in_words) [SC_NO_VERDICT_##reason] = in_words,
        SC_NO_VERDICT_REASONS(X)
#undef X
    };
    if (title && sc_no_verdicts_of_unit(counts, unit) > 0)
        sc_text_put(text, title);
    for (unsigned i = 0; i < SC_NO_VERDICT_COUNT; i++) {
        uint64_t uses = sc_no_verdicts_of(counts, unit, i);
        if (uses > 0)
            sc_text_format(text, "    %lu %s%s: %s\n", uses, noun, plural_of(uses), words[i]);
    }
}

/* Appends why operations were not watched, and why accesses and operations were not judged. The
 * last two share one title. */
static void put_no_verdicts(struct sc_text *text, const struct sc_no_verdicts *counts)
{
    bool has_touches = sc_no_verdicts_of_unit(counts, SC_NO_VERDICT_TOUCHES) > 0;
    static const char not_judged[] = "  not judged:\n";
    put_reasons(text, counts, "  not watched:\n", SC_NO_VERDICT_UNWATCHED, "operation", plural_s);
    put_reasons(text, counts, not_judged, SC_NO_VERDICT_TOUCHES, "touch", plural_touch);
    put_reasons(text, counts, has_touches ? NULL : not_judged, SC_NO_VERDICT_OPERATIONS,
                "operation", plural_s);
}

/* Did the user's suppression leave no hazard out? With `expired` of those whose date has passed,
 * else of the others. */
static bool is_idle(const struct sc_suppression *entry, bool expired)
{
    return entry->is_expired == expired && entry->used == 0;
}

/* Is there an idle suppression: expired ones with `expired`, else others? */
bool sc_summary_has_idle(bool expired)
{
    const struct sc_suppression *entry;
    for (unsigned i = 0; (entry = sc_suppressing_entry(i)) != NULL; i++) {
        if (is_idle(entry, expired))
            return true;
    }
    return false;
}

/* Appends a line with the names of suppressions that left nothing out, if there are any: of
 * expired ones with `expired`, else of the others. */
static void put_suppressions(struct sc_text *text, const char *title, bool expired)
{
    const struct sc_suppression *entry;
    const char *before = title;
    for (unsigned i = 0; (entry = sc_suppressing_entry(i)) != NULL; i++) {
        if (!is_idle(entry, expired))
            continue;
        sc_text_put(text, before);
        sc_plain_put(text, entry->name.bytes, entry->name.length);
        before = ", ";
    }
    sc_text_put(text, before == title ? "" : "\n");
}

/* Says what strict=1 has decided, what it could not judge, and with which status the process ends.
 * If the program itself fails, its status stays. */
static void put_verdict(struct sc_text *text, const struct sc_summary *summary)
{
    sc_text_put(text, "  strict: ");
    if (!summary->strict_counts) {
        sc_text_put(text, "passed");
        put_what_is_not_judged(text, summary->totals->no_verdicts);
        sc_text_char(text, '\n');
    } else if (summary->totals->exit_status < 0) { /* it aborts */
        sc_text_put(text, "failed\n");
    } else if (summary->totals->exit_status == summary->options->exitcode) {
        sc_text_format(text, "failed, this process ends with %d\n", summary->options->exitcode);
    } else {
        sc_text_format(text, "failed; the program's own exit status %d stays\n",
                       summary->totals->exit_status);
    }
}

/* Writes the whole summary for people: the hazards at their places, then what limits the result,
 * and where the report is. */
void sc_summary_write(struct sc_text *text, const struct sc_summary *summary)
{
    put_head(text, summary);
    for (unsigned i = 0; i < summary->place_count; i++)
        sc_summary_write_hazard(text, &summary->places[i]);
    unsigned left_out = summary->distinct - summary->place_count;
    if (summary->distinct > summary->place_count)
        sc_text_format(text, "  and %u more place%s\n", left_out, plural_s(left_out));
    put_postmortem(text, &summary->postmortem);
    put_coverage(text, summary);
    put_what_was_noted(text, summary);
    put_no_verdicts(text, summary->totals->no_verdicts);
    put_guard(text, summary);
    put_budget(text, summary->totals->guard.budget);
    put_timeline(text, summary);
    if (summary->options->strict || tells_more(summary)) {
        put_suppressions(text, "  suppressions that have expired: ", /*expired*/ true);
        put_suppressions(text, "  suppressions not used: ", /*expired*/ false);
    }
    if (summary->path[0] != '\0') {
        sc_text_put(text, "  report: ");
        put_name(text, summary->path);
        sc_text_put(text, "\n");
    }
    if (summary->options->strict)
        put_verdict(text, summary);
}
