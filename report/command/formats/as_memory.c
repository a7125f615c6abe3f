/* Who holds which memory, for people: of each run what its summary says (docs/memory.md), and no
 * hazards. Nothing that a report contains steers the terminal or begins a line of its own.
 */
#include "report/command/fields.h"
#include "report/command/formats/formats.h"
#include "report/command/say.h"
#include "track/text.h"

#include <string.h>

#define NUMBER "%" JSON_INTEGER_FORMAT
#define PLAIN(text) sc_say_plain(text)

/* "1.5 GB" */
static const char *size_of(struct sc_model *model, const json_t *object, const char *key)
{
    char bytes[32];
    struct sc_text text = sc_text_in(bytes, sizeof bytes);
    json_int_t size = sc_field_number(object, key);
    sc_text_size(&text, size > 0 ? (uint64_t)size : 0);
    return sc_scratch_print(&model->scratch, "%s", bytes);
}

static const char *plural(json_int_t count)
{
    return count == 1 ? "" : "s";
}

static void print_kinds(FILE *out, struct sc_model *model, const json_t *place)
{
    const char *kind;
    json_t *count;
    json_object_foreach(json_object_get(place, "kinds"), kind, count)
    {
        json_int_t blocks = sc_field_number(count, "blocks");
        if (strcmp(kind, "graph_execs") == 0) {
            fprintf(out, "    graph execs: " NUMBER "\n", blocks);
            continue;
        }
        fprintf(out, "    %s: %s in " NUMBER " block%s, %s at most", PLAIN(kind),
                size_of(model, count, "bytes"), blocks, plural(blocks),
                size_of(model, count, "peak_bytes"));
        if (sc_field_number(count, "backed_bytes") > 0)
            fprintf(out, "; the driver takes %s at least", size_of(model, count, "backed_bytes"));
        fputc('\n', out);
    }
}

static void print_pool(FILE *out, struct sc_model *model, const json_t *pool)
{
    const char *made_by = sc_field_string(pool, "made_by", NULL);
    const char *remedy = sc_field_string(pool, "given_back_by", NULL);
    fprintf(out, "    pool %s", PLAIN(sc_field_string(pool, "pool", "?")));
    if (made_by)
        fprintf(out, " of %s", PLAIN(made_by));
    if (json_is_true(json_object_get(pool, "destroyed")))
        fputs(", destroyed", out);
    fprintf(out, ": %s in use", size_of(model, pool, "bytes"));
    if (json_object_get(pool, "reserved_bytes"))
        fprintf(out, " of %s", size_of(model, pool, "reserved_bytes"));
    if (remedy)
        fprintf(out, "; %s unused, which %s gives back", size_of(model, pool, "unused_bytes"),
                PLAIN(remedy));
    fputc('\n', out);
}

static void print_pools(FILE *out, struct sc_model *model, const json_t *place)
{
    size_t index;
    json_t *pool;
    json_array_foreach(json_object_get(place, "pools"), index, pool)
    {
        print_pool(out, model, pool);
    }
    const json_t *graphs = json_object_get(place, "graphs");
    if (graphs)
        fprintf(out, "    graphs: %s in use of %s; %s gives back the rest\n",
                size_of(model, graphs, "used_bytes"), size_of(model, graphs, "reserved_bytes"),
                PLAIN(sc_field_string(graphs, "given_back_by", "?")));
}

/* Those of the place: null is the host. */
static bool is_of_place(const json_t *entry, const json_t *number)
{
    const json_t *device = json_object_get(entry, "device");
    return number ? json_equal(device, number) : !device || json_is_null(device);
}

static void print_owners(FILE *out, struct sc_model *model, const json_t *memory,
                         const json_t *number)
{
    size_t index;
    json_t *owner;
    json_array_foreach(json_object_get(memory, "owners"), index, owner)
    {
        if (is_of_place(owner, number))
            fprintf(out, "    %s: %s, %s at the peak\n",
                    PLAIN(sc_field_string(owner, "owner", "?")), size_of(model, owner, "bytes"),
                    size_of(model, owner, "peak_bytes"));
    }
}

static void print_frames(FILE *out, struct sc_model *model, json_t *stack)
{
    struct sc_frames frames;
    sc_frames_shown(&frames, &model->scratch, &model->makers, stack);
    for (size_t i = 0; i < frames.count; i++)
        fprintf(out, "        #%zu %s\n", i, PLAIN(frames.frames[i].words));
}

static void print_accounts(FILE *out, struct sc_model *model, const json_t *memory,
                           const json_t *number)
{
    size_t index;
    json_t *account;
    json_array_foreach(json_object_get(memory, "accounts"), index, account)
    {
        json_int_t blocks = sc_field_number(account, "blocks");
        if (!is_of_place(account, number))
            continue;
        fprintf(out, "    %s in " NUMBER " block%s, %s at the peak: %s, %s, by %s\n",
                size_of(model, account, "bytes"), blocks, plural(blocks),
                size_of(model, account, "peak_bytes"),
                PLAIN(sc_field_string(account, "owner", "?")),
                PLAIN(sc_field_string(account, "kind", "?")),
                PLAIN(sc_field_string(account, "api", "?")));
        print_frames(out, model, json_object_get(account, "stack"));
    }
}

/* `number` NULL: the host. */
static void print_place(FILE *out, struct sc_model *model, const json_t *memory,
                        const json_t *place, const json_t *number)
{
    if (json_object_size(json_object_get(place, "kinds")) == 0)
        return;
    if (number)
        fprintf(out, "  device " NUMBER " (%s)", json_integer_value(number),
                PLAIN(sc_field_string(place, "uuid", "no name")));
    else
        fputs("  page-locked on the host", out);
    fprintf(out, ": %s, %s at most", size_of(model, place, "bytes"),
            size_of(model, place, "peak_bytes"));
    if (json_object_get(place, "free_bytes"))
        fprintf(out, "; %s of %s is free", size_of(model, place, "free_bytes"),
                size_of(model, place, "total_bytes"));
    fputc('\n', out);
    print_owners(out, model, memory, number);
    print_kinds(out, model, place);
    print_pools(out, model, place);
    print_accounts(out, model, memory, number);
}

static void print_memory(FILE *out, struct sc_model *model, const json_t *memory)
{
    size_t index;
    json_t *device;
    json_array_foreach(json_object_get(memory, "devices"), index, device)
    {
        const json_t *number = json_object_get(device, "device");
        if (json_is_integer(number))
            print_place(out, model, memory, device, number);
    }
    print_place(out, model, memory, json_object_get(memory, "host"), NULL);
}

void sc_as_memory(FILE *out, struct sc_model *model)
{
    for (size_t i = 0; i < model->reader->run_count; i++) {
        const struct sc_run *run = sc_model_run(model, i);
        const json_t *summary = json_object_get(run->record, "summary");
        const json_t *memory = json_object_get(summary, "memory");
        fprintf(out, "%s: %s\n", PLAIN(run->file), PLAIN(run->title));
        if (!json_is_object(memory))
            fprintf(out, "  it is not known what it holds: %s\n",
                    summary ? "memory=off" : "the run did not end normally");
        print_memory(out, model, memory);
    }
}
