#define _GNU_SOURCE 1
#include "report/command/formats/memory_section.h"

#include "report/command/baseline.h"
#include "report/command/fields.h"
#include "report/command/formats/flame_graph.h"
#include "report/command/formats/memory_chart.h"
#include "report/command/formats/page_parts.h"
#include "report/command/memory_failure.h"
#include "report/command/memory_history.h"
#include "report/command/memory_ranks.h"
#include "report/command/memory_sites.h"
#include "report/command/memory_tree.h"
#include "report/command/model.h"
#include "report/command/shown_memory.h"

#include <string.h>

enum {
    ROWS_MAX = 200,
    RUNS_MAX = 16,
    CHANGES_MAX = 16,
    LEAVES_MAX = 256,
    FRAMES_MAX = 64,
    FOLDED_MIN = 2
};

/* ---- differences ---- */

/* Lists by which call stacks more or less memory is held than before, most changed first. */
static void put_changes(FILE *out, struct sc_scratch *scratch, struct sc_memory_sites *sites,
                        bool with_peak)
{
    size_t count;
    struct sc_memory_site **changed = sc_memory_sites_changed(sites, with_peak, &count);
    fputs("<ul>\n", out);
    for (size_t i = 0; i < count && i < CHANGES_MAX; i++)
        sc_page_part_put(out, "<li>", sc_memory_site_words(scratch, changed[i], with_peak),
                         "</li>\n");
    if (count > CHANGES_MAX)
        fprintf(out, "<li>and %zu more</li>\n", count - CHANGES_MAX);
    fputs(count == 0 ? "<li>no difference</li>\n</ul>\n" : "</ul>\n", out);
}

/* Lists what has changed between two memory lines of the run; nothing if it has fewer. */
static void put_growth(FILE *out, struct sc_model *model, const struct sc_run *run)
{
    struct sc_memory moments[SC_MEMORY_LINES_SHOWN];
    struct sc_memory_sites sites = {0};
    if (!sc_memory_history_lines(model, run, moments))
        return;
    sc_memory_sites_add(&sites, SC_MEMORY_BEFORE, &moments[SC_MEMORY_FIRST_LINE]);
    sc_memory_sites_add(&sites, SC_MEMORY_NOW, &moments[SC_MEMORY_LAST_LINE]);
    fputs(sc_memory_between_is_given(&model->reader->between) ? "<h4>Between the two lines</h4>\n"
                                                              : "<h4>Since the first line</h4>\n",
          out);
    put_changes(out, &model->scratch, &sites, false);
    sc_memory_sites_free(&sites);
}

/* Lists what holds more or less memory than in the baseline. */
static void put_baseline(FILE *out, struct sc_model *model)
{
    struct sc_memory_sites *sites = sc_baseline_memory(model->baseline);
    sc_memory_sites_add_all(sites, model);
    fputs("<h3>Since the baseline</h3>\n", out);
    put_changes(out, &model->scratch, sites, true);
}

/* ---- several processes ---- */

/* Returns why the run stands out among all, or NULL if it does not. */
static const char *what_stands_out(struct sc_model *model, const struct sc_memory_ranks *ranks,
                                   size_t run)
{
    for (size_t i = 0; i < ranks->outlier_count; i++)
        if (ranks->outliers[i].run == run)
            return sc_memory_ranks_words(&model->scratch, &ranks->outliers[i]);
    return NULL;
}

/* Writes a process's row; a badge says how it differs from the others. */
static void put_row(FILE *out, struct sc_model *model, const struct sc_memory_ranks *ranks,
                    const struct sc_memory_rank *rank)
{
    const struct sc_run *run = sc_model_run(model, rank->run);
    const char *odd = rank->stands_out ? what_stands_out(model, ranks, rank->run) : NULL;
    sc_page_part_put(out, "<tr><th scope=\"row\">", sc_shown_memory_title(&model->scratch, run),
                     "");
    if (odd)
        sc_page_part_put(out, " <span class=\"badge new\">", odd, "</span>");
    fputs("</th>", out);
    for (int i = SC_MEMORY_HELD; i <= SC_MEMORY_LOCKED; i++)
        fprintf(out, "<td>%s</td>", sc_shown_memory_size(&model->scratch, rank->values[i]));
    fputs("</tr>\n", out);
}

/* Writes the processes' rows, as far as there is room: those that stand out first. */
static void put_rows(FILE *out, struct sc_model *model, const struct sc_memory_ranks *ranks)
{
    size_t shown = 0;
    for (int odd = 1; odd >= 0; odd--)
        for (size_t i = 0; i < ranks->count && shown < ROWS_MAX; i++) {
            if (ranks->ranks[i].stands_out != odd)
                continue;
            put_row(out, model, ranks, &ranks->ranks[i]);
            shown++;
        }
    fputs("</tbody></table></div>\n", out);
    if (shown < ranks->count)
        fprintf(out, "<p>and %zu more</p>\n", ranks->count - shown);
}

/* Writes the table of processes; one alone is compared with nothing. */
static void put_processes(FILE *out, struct sc_model *model, const struct sc_memory_ranks *ranks)
{
    if (ranks->count < 2)
        return;
    fputs("<div class=\"wide\"><table><thead><tr><th scope=\"col\">process</th>"
          "<th scope=\"col\">now</th><th scope=\"col\">at most</th>"
          "<th scope=\"col\">page-locked</th></tr></thead><tbody>\n",
          out);
    put_rows(out, model, ranks);
}

/* ---- a place ---- */

struct leaves {
    FILE *out;
    struct sc_model *model;
    size_t left; /* that may be shown */
};

static void put_sizes(struct leaves *leaves, const struct sc_memory_branch *branch)
{
    struct sc_scratch *scratch = &leaves->model->scratch;
    fprintf(leaves->out, " <span class=\"sizes\">%s, %s at the peak</span>",
            sc_shown_memory_size(scratch, branch->bytes),
            sc_shown_memory_size(scratch, branch->peak_bytes));
}

/* Writes a branch of the tree and what is below it. A branch that is an account ends with its call
 * stack. */
static void put_branch(struct leaves *leaves, const struct sc_memory_branch *branch)
{
    FILE *out = leaves->out;
    if (leaves->left == 0)
        return;
    if (!branch->first) {
        leaves->left--;
        sc_page_part_put(out, "<li>", branch->name, "");
        put_sizes(leaves, branch);
        sc_page_part_put_stack(out, &branch->account->stack);
        fputs("</li>\n", out);
        return;
    }
    sc_page_part_put(out, "<li><details><summary>", branch->name, "");
    put_sizes(leaves, branch);
    fputs("</summary><ul>\n", out);
    for (const struct sc_memory_branch *child = branch->first; child; child = child->next)
        put_branch(leaves, child);
    fputs("</ul></details></li>\n", out);
}

/* Writes which pools the owner has reported, after its row. */
static void put_suballocators(FILE *out, struct sc_model *model,
                              const struct sc_memory_place *place, const char *owner)
{
    size_t index;
    json_t *pool;
    json_array_foreach(json_object_get(place->record, "suballocators"), index, pool)
    {
        if (strcmp(sc_field_string(pool, "owner", ""), owner) == 0)
            sc_page_part_put(out, "<li>of that ",
                             sc_shown_memory_suballocator(&model->scratch, pool), "</li>\n");
    }
}

/* Writes who holds memory at the place, as a tree of owners, kinds and calls. */
static void put_owners(FILE *out, struct sc_model *model, const struct sc_memory *memory,
                       const struct sc_memory_place *place)
{
    struct sc_memory_tree tree = {.scratch = &model->scratch};
    struct leaves leaves = {out, model, LEAVES_MAX};
    for (size_t i = 0; i < memory->account_count; i++) {
        const struct sc_memory_account *account = &memory->accounts[i];
        const char *names[] = {account->is_own ? account->owner : "in no sum", account->kind,
                               account->words};
        if (account->place == place)
            sc_memory_tree_add(&tree, names, 3, account);
    }
    sc_memory_tree_sort(&tree);
    fputs("<ul class=\"tree\">\n", out);
    for (const struct sc_memory_branch *owner = tree.root.first; owner; owner = owner->next) {
        put_branch(&leaves, owner);
        put_suballocators(out, model, place, owner->name);
    }
    fputs("</ul>\n", out);
    if (leaves.left == 0)
        fputs("<p>and others, with less</p>\n", out);
    sc_memory_tree_free(&tree);
}

/* Returns one name for `count` frames of an interpreter, libc or the like, up to `end`. */
static const char *folded_name(struct sc_scratch *scratch, const struct sc_frames *stack,
                               size_t end, size_t count)
{
    const char *module = basename(stack->frames[end - 1].module);
    bool is_one = true;
    for (size_t i = end - count; i < end; i++)
        is_one = is_one && strcmp(basename(stack->frames[i].module), module) == 0;
    return sc_scratch_print(scratch, "%zu frames of %s%s", count, module,
                            is_one ? "" : " and others");
}

/* Adds an account to the tree of calls, from the outermost frame on. */
static void add_to_flame(struct sc_memory_tree *tree, const struct sc_memory_account *account)
{
    const struct sc_frames *stack = &account->stack;
    const char *names[FRAMES_MAX + 1];
    size_t count = 0, folded;
    for (size_t end = stack->count; end > 0 && count < FRAMES_MAX; end -= folded) {
        folded = sc_frames_shown_runtimes(stack, end);
        names[count++] = folded >= FOLDED_MIN
                             ? folded_name(tree->scratch, stack, end, folded)
                             : sc_shown_memory_frame(tree->scratch, &stack->frames[end - 1]);
        folded = folded >= FOLDED_MIN ? folded : 1;
    }
    names[count++] = account->is_rest ? account->words : account->api;
    if (account->is_own)
        sc_memory_tree_add(tree, names, count, account);
}

/* Writes the flame graphs of the place's memory, of now and of the peak. */
static void put_flames(FILE *out, struct sc_model *model, const struct sc_memory *memory,
                       const struct sc_memory_place *place, const char *id)
{
    struct sc_scratch *scratch = &model->scratch;
    struct sc_memory_tree tree = {.scratch = scratch};
    for (size_t i = 0; i < memory->account_count; i++)
        if (memory->accounts[i].place == place)
            add_to_flame(&tree, &memory->accounts[i]);
    sc_memory_tree_sort(&tree);
    sc_flame_graph_draw(out, scratch, &tree, false,
                        sc_scratch_print(scratch, "Memory of %s now", place->name),
                        sc_scratch_print(scratch, "%s-now", id));
    if (tree.root.peak_bytes != tree.root.bytes)
        sc_flame_graph_draw(out, scratch, &tree, true,
                            sc_scratch_print(scratch, "Memory of %s at the peak", place->name),
                            sc_scratch_print(scratch, "%s-peak", id));
    sc_memory_tree_free(&tree);
}

/* Writes a list of calls with their stacks, below the summary that was written before. */
static void put_calls(FILE *out, const struct sc_memory_call *calls, size_t count)
{
    fputs("</summary><ul>\n", out);
    for (size_t i = 0; i < count; i++) {
        sc_page_part_put(out, "<li>", calls[i].words, "");
        sc_page_part_put_stack(out, &calls[i].stack);
        fputs("</li>\n", out);
    }
    fputs("</ul></details>\n", out);
}

/* Writes what the driver has taken for itself, and after which calls; nothing if it is not
 * known. */
static void put_unaccounted(FILE *out, struct sc_model *model, const struct sc_memory_place *place)
{
    struct sc_scratch *scratch = &model->scratch;
    if (!place->knows_unaccounted)
        return;
    fprintf(out, "<details><summary>unaccounted <span class=\"sizes\">%s, %s at the peak</span>",
            sc_shown_memory_size(scratch, place->unaccounted_bytes),
            sc_shown_memory_size(scratch, place->unaccounted_peak_bytes));
    put_calls(out, place->steps, place->step_count);
}

/* Lists memory that other processes can open; nothing without any. */
static void put_exports(FILE *out, const struct sc_memory_place *place)
{
    if (place->export_count == 0)
        return;
    fputs("<details><summary>open to others", out);
    put_calls(out, place->exports, place->export_count);
}

/* Lists the calls that made contexts; nothing without any. */
static void put_contexts(FILE *out, const struct sc_memory_place *place)
{
    if (place->context_count == 0)
        return;
    fputs("<details><summary>contexts", out);
    put_calls(out, place->contexts, place->context_count);
}

/* Writes all about the memory at one place: a chart over time, owners, and a flame graph of call
 * stacks. */
static void put_place(FILE *out, struct sc_model *model, const struct sc_run *run,
                      const struct sc_memory *memory, const struct sc_memory_place *place,
                      const char *id)
{
    struct sc_scratch *scratch = &model->scratch;
    size_t count;
    if (!sc_shown_memory_has_any(place))
        return;
    sc_page_part_put(out, "<h4>", place->name, "");
    fprintf(out, ": %s, %s at most", sc_shown_memory_size(scratch, place->bytes),
            sc_shown_memory_size(scratch, place->peak_bytes));
    if (place->knows_free)
        fprintf(out, "; %s of %s is free", sc_shown_memory_size(scratch, place->free_bytes),
                sc_shown_memory_size(scratch, place->total_bytes));
    fputs("</h4>\n", out);
    const struct sc_memory_moment *moments =
        sc_memory_history_of(scratch, run, memory, place, &count);
    sc_memory_chart_draw(out, scratch, place, moments, count,
                         sc_scratch_print(scratch, "%s-time", id));
    put_owners(out, model, memory, place);
    put_unaccounted(out, model, place);
    put_contexts(out, place);
    put_exports(out, place);
    put_flames(out, model, memory, place, id);
}

/* ---- the whole ---- */

/* Writes which allocation failed for want of memory, if one did. */
static void put_failure(FILE *out, struct sc_model *model, const struct sc_run *run)
{
    struct sc_frames stack;
    const char *words = sc_memory_failure_words(model, run, &stack);
    if (!words)
        return;
    sc_page_part_put(out, "<p>", words, "</p>\n");
    sc_page_part_put_stack(out, &stack);
}

/* Writes the memory of one run. is_line: without a summary its last memory line counts. */
static void put_run(FILE *out, struct sc_model *model, size_t index)
{
    const struct sc_run *run = sc_model_run(model, index);
    const struct sc_memory memory = sc_shown_memory_of_run(model, run);
    sc_page_part_put(out, "<article class=\"panel\">\n<h3>",
                     sc_shown_memory_title(&model->scratch, run), "</h3>\n");
    if (memory.is_line)
        fprintf(out, "<p>As its last line says: %s.</p>\n",
                run->replaced ? "the process went on as another program"
                              : "the run did not end normally");
    put_failure(out, model, run);
    for (size_t i = 0; i < memory.place_count; i++)
        put_place(out, model, run, &memory, &memory.places[i],
                  sc_scratch_print(&model->scratch, "m%zu-%zu", index, i));
    if (memory.children)
        sc_page_part_put(out, "<p>", memory.children, "</p>\n");
    put_growth(out, model, run);
    fputs("</article>\n", out);
}

/* Writes the processes as far as there is room, those that stand out first. */
static void put_runs(FILE *out, struct sc_model *model, const struct sc_memory_ranks *ranks)
{
    size_t shown = 0;
    for (int odd = 1; odd >= 0; odd--)
        for (size_t i = 0; i < ranks->count && shown < RUNS_MAX; i++)
            if (ranks->ranks[i].stands_out == odd) {
                put_run(out, model, ranks->ranks[i].run);
                shown++;
            }
    if (shown < ranks->count)
        fprintf(out, "<p>%zu more process%s left out here.</p>\n", ranks->count - shown,
                ranks->count - shown == 1 ? " is" : "es are");
}

/* Writes the page's part about memory; nothing if no run has any. */
void sc_memory_section_write(FILE *out, struct sc_model *model)
{
    struct sc_memory_ranks ranks = sc_memory_ranks_make(model);
    if (ranks.count > 0) {
        fputs("<section class=\"memory\" aria-labelledby=\"memory\">\n<h2 "
              "id=\"memory\">Memory</h2>\n",
              out);
        put_processes(out, model, &ranks);
        put_runs(out, model, &ranks);
        if (model->baseline)
            put_baseline(out, model);
        fputs("</section>\n", out);
    }
    sc_memory_ranks_free(&ranks);
}

/* Writes a link to the part about memory, if there will be one. */
void sc_memory_section_link(FILE *out, struct sc_model *model)
{
    struct sc_memory_ranks ranks = sc_memory_ranks_make(model);
    if (ranks.count > 0)
        fputs("<p><a href=\"#memory\">Who holds memory</a></p>\n", out);
    sc_memory_ranks_free(&ranks);
}
