#define _GNU_SOURCE 1
#include "report/command/memory_ranks.h"

#include "report/command/model.h"
#include "report/command/shown_memory.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP_MIN = 3, TIMES = 6, MOST_SHARE = 100, DIFFERENCE_MIN = 16 << 20 };

/* ---- what each holds ---- */

/* Returns an argument of the run's command; "" past the last. */
static const char *argument_of(const struct sc_run *run, size_t index)
{
    const json_t *command = json_object_get(json_object_get(run->record, "run"), "command");
    const char *word = json_string_value(json_array_get(command, index));
    return word ? word : "";
}

/* Makes a digest of the program that a process runs, since only processes of one program are
 * compared. For Python it includes the script. Other arguments are left out, since they may have
 * the rank. */
static struct sc_digest digest_of_program(const struct sc_run *run)
{
    const char *program = argument_of(run, 0);
    bool is_python = strncmp(basename(program), "python", strlen("python")) == 0;
    size_t index = 1;
    struct sc_digester digester;
    sc_digest_begin(&digester);
    sc_digest_word(&digester, program);
    while (is_python && argument_of(run, index)[0] == '-')
        index++;
    sc_digest_word(&digester, is_python ? argument_of(run, index) : "");
    return sc_digest_end(&digester);
}

/* Adds what the process holds on one device. */
static void add_device(struct sc_memory_rank *rank, const struct sc_memory_place *place)
{
    sc_shown_memory_add(&rank->values[SC_MEMORY_HELD], place->bytes);
    sc_shown_memory_add(&rank->values[SC_MEMORY_PEAK], place->peak_bytes);
    sc_shown_memory_add(&rank->values[SC_MEMORY_UNACCOUNTED], place->unaccounted_bytes);
    rank->lacks_unaccounted |= !place->knows_unaccounted;
    if (rank->devices++ == 0 || place->peak_bytes < rank->least_bytes) {
        rank->least_bytes = place->peak_bytes;
        rank->least = place->device;
    }
}

/* Returns what one process holds, to be compared with others of the same program: on devices, and
 * page-locked. */
static struct sc_memory_rank rank_of(const struct sc_run *run, size_t index,
                                     const struct sc_memory *memory)
{
    struct sc_memory_rank rank = {.run = index, .program = digest_of_program(run)};
    for (size_t i = 0; i < memory->place_count; i++) {
        const struct sc_memory_place *place = &memory->places[i];
        if (place->device == SC_MEMORY_HOST)
            rank.values[SC_MEMORY_LOCKED] = place->bytes;
        else
            add_device(&rank, place);
    }
    return rank;
}

/* ---- who stands out ---- */

/* The processes of one program, and room for numbers of theirs. */
struct group {
    struct sc_memory_rank **ranks;
    size_t count;
    uint64_t *numbers;
};

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static int ascending(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return *left < *right ? -1 : *left > *right;
}

/* Returns the median of the group's numbers, the lower of two middle ones. */
static uint64_t middle(const struct group *group)
{
    qsort(group->numbers, group->count, sizeof *group->numbers, ascending);
    return group->numbers[(group->count - 1) / 2];
}

/* Returns the median of one quantity among the group's processes. */
static uint64_t middle_value(const struct group *group, enum sc_memory_quantity quantity)
{
    for (size_t i = 0; i < group->count; i++)
        group->numbers[i] = group->ranks[i]->values[quantity];
    return middle(group);
}

/* Returns how far from the typical value a process may be: a multiple of the distance that half of
 * them keep, but at least a share of the value, and at least an amount that matters. */
static uint64_t allowed(const struct group *group, enum sc_memory_quantity quantity,
                        uint64_t typical)
{
    for (size_t i = 0; i < group->count; i++)
        group->numbers[i] = distance(group->ranks[i]->values[quantity], typical);
    uint64_t spread = TIMES * middle(group), share = typical / MOST_SHARE;
    uint64_t most = spread > share ? spread : share;
    return most > DIFFERENCE_MIN ? most : DIFFERENCE_MIN;
}

/* Returns a run that has the typical value, with which an outlier is compared. */
static size_t run_with(const struct group *group, enum sc_memory_quantity quantity, uint64_t value)
{
    size_t i = 0;
    while (i + 1 < group->count && group->ranks[i]->values[quantity] != value)
        i++;
    return group->ranks[i]->run;
}

/* Adds a process to the outliers. Each is named once, for the first reason found. */
static void name(struct sc_memory_ranks *ranks, struct sc_memory_rank *rank,
                 struct sc_memory_outlier outlier)
{
    if (rank->stands_out)
        return;
    rank->stands_out = true;
    outlier.run = rank->run;
    ranks->outliers[ranks->outlier_count++] = outlier;
}

/* Finds the processes whose value is too far from the typical one. */
static void find_by(struct sc_memory_ranks *ranks, const struct group *group,
                    enum sc_memory_quantity quantity)
{
    uint64_t typical = middle_value(group, quantity);
    uint64_t most = allowed(group, quantity, typical);
    for (size_t i = 0; i < group->count; i++) {
        uint64_t value = group->ranks[i]->values[quantity];
        if (distance(value, typical) < most)
            continue;
        name(ranks, group->ranks[i],
             (struct sc_memory_outlier){.typical = run_with(group, quantity, typical),
                                        .quantity = quantity,
                                        .value = value,
                                        .typical_value = typical,
                                        .stray = SC_MEMORY_HOST});
    }
}

/* Finds processes that use more devices than most, as by an allocation before the device was
 * chosen. */
static void find_strays(struct sc_memory_ranks *ranks, const struct group *group)
{
    for (size_t i = 0; i < group->count; i++)
        group->numbers[i] = group->ranks[i]->devices;
    uint64_t typical = middle(group);
    for (size_t i = 0; i < group->count; i++) {
        struct sc_memory_rank *rank = group->ranks[i];
        if (rank->devices > typical)
            name(ranks, rank,
                 (struct sc_memory_outlier){
                     .typical = rank->run, .stray = rank->least, .value = rank->least_bytes});
    }
}

/* Compares processes by program and then by their order, so that those of a program stand
 * together. */
static int by_program(const void *a, const void *b)
{
    struct sc_memory_rank *const *left = a, *const *right = b;
    int order = memcmp(&(*left)->program, &(*right)->program, sizeof(struct sc_digest));
    if (order != 0)
        return order;
    return (*left)->run < (*right)->run ? -1 : (*left)->run > (*right)->run;
}

/* Returns the part of the group of which it is known what the driver has taken for itself; they
 * are moved to its front. */
static struct group knowing(const struct group *group)
{
    struct group known = {.ranks = group->ranks, .numbers = group->numbers};
    for (size_t i = 0; i < group->count; i++) {
        struct sc_memory_rank *rank = group->ranks[i];
        if (rank->lacks_unaccounted)
            continue;
        group->ranks[i] = known.ranks[known.count];
        known.ranks[known.count++] = rank;
    }
    return known;
}

/* Finds outliers among processes of one program; few processes have none. */
static void find_in_group(struct sc_memory_ranks *ranks, const struct group *group)
{
    if (group->count < GROUP_MIN)
        return;
    find_strays(ranks, group);
    for (int quantity = 0; quantity < SC_MEMORY_UNACCOUNTED; quantity++)
        find_by(ranks, group, quantity);
    const struct group known = knowing(group);
    if (known.count >= GROUP_MIN)
        find_by(ranks, &known, SC_MEMORY_UNACCOUNTED);
}

/* Groups the processes by their program, and looks in each group. */
static void find_outliers(struct sc_memory_ranks *ranks)
{
    struct sc_memory_rank **sorted = calloc(ranks->count + 1, sizeof *sorted);
    uint64_t *numbers = calloc(ranks->count + 1, sizeof *numbers);
    ranks->outliers = calloc(ranks->count + 1, sizeof *ranks->outliers);
    for (size_t i = 0; sorted && i < ranks->count; i++)
        sorted[i] = &ranks->ranks[i];
    if (sorted && numbers && ranks->outliers) {
        qsort(sorted, ranks->count, sizeof *sorted, by_program);
        for (size_t begin = 0, end; begin < ranks->count; begin = end) {
            end = begin + 1;
            while (end < ranks->count && memcmp(&sorted[begin]->program, &sorted[end]->program,
                                                sizeof(struct sc_digest)) == 0)
                end++;
            find_in_group(ranks, &(struct group){sorted + begin, end - begin, numbers});
        }
    }
    free(sorted);
    free(numbers);
}

/* ---- the whole ---- */

/* Sets the processes of a job side by side, and finds those that stand out. */
struct sc_memory_ranks sc_memory_ranks_make(struct sc_model *model)
{
    size_t count = model->reader->run_count;
    struct sc_memory_ranks ranks = {.ranks = calloc(count + 1, sizeof *ranks.ranks)};
    for (size_t i = 0; ranks.ranks && i < count; i++) {
        const struct sc_run *run = sc_model_run(model, i);
        const struct sc_memory memory = sc_shown_memory_of_process(model, run);
        if (memory.record)
            ranks.ranks[ranks.count++] = rank_of(run, i, &memory);
    }
    find_outliers(&ranks);
    return ranks;
}

void sc_memory_ranks_free(struct sc_memory_ranks *ranks)
{
    free(ranks->ranks);
    free(ranks->outliers);
}

/* Returns in words how a process differs from most others of its program: by how much it holds, or
 * by a device that others do not use. */
const char *sc_memory_ranks_words(struct sc_scratch *scratch,
                                  const struct sc_memory_outlier *outlier)
{
    static const char *const words[SC_MEMORY_QUANTITIES][2] = {
        [SC_MEMORY_HELD] = {"holds", ""},
        [SC_MEMORY_PEAK] = {"held at the peak", ""},
        [SC_MEMORY_LOCKED] = {"has", " page-locked"},
        [SC_MEMORY_UNACCOUNTED] = {"has", " unaccounted"},
    };
    if (outlier->stray != SC_MEMORY_HOST)
        return sc_scratch_print(scratch,
                                "has %s device %" JSON_INTEGER_FORMAT
                                " besides, where most have one device less",
                                outlier->value > 0 ? "memory of" : "a context on", outlier->stray);
    const char *const *verb = words[outlier->quantity];
    return sc_scratch_print(
        scratch, "%s %s %s%s than most", verb[0],
        sc_shown_memory_size(scratch, distance(outlier->value, outlier->typical_value)),
        outlier->value > outlier->typical_value ? "more" : "less", verb[1]);
}
