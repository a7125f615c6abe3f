/* Memory for pprof: a sample for each account, with what it holds, held at the peak, and has asked
 * for in all. Field numbers are those of pprof's proto/profile.proto.
 */
#define _GNU_SOURCE 1
#include "report/command/fields.h"
#include "report/command/formats/formats.h"
#include "report/command/formats/gzip.h"
#include "report/command/formats/protobuf.h"
#include "report/command/say.h"
#include "report/command/shown_memory.h"
#include "report/command/table.h"

#include <stdlib.h>
#include <string.h>

enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
    TYPE_TYPE = 1,
    TYPE_UNIT = 2,
    SAMPLE_LOCATION = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_STRING = 2,
    LABEL_NUMBER = 3,
    MAPPING_ID = 1,
    MAPPING_FILE = 5,
    MAPPING_BUILD_ID = 6,
    MAPPING_HAS_FUNCTIONS = 7,
    LOCATION_ID = 1,
    LOCATION_MAPPING = 2,
    LOCATION_ADDRESS = 3,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILE = 4,
};

/* What has its number in the profile: a string, a mapping, a function, a location. */
struct known {
    struct sc_node node;
    uint64_t number;
};

struct profile {
    struct sc_gzip file;
    struct sc_scratch scratch; /* with what is known */
    struct sc_table strings, mappings, functions, locations;
    struct sc_scratch messages; /* that are being written */
};

/* Begins an empty message of the profile. */
static struct sc_protobuf message_in(struct profile *profile)
{
    return (struct sc_protobuf){.scratch = &profile->messages};
}

/* Writes a field of the profile, compressed. */
static void write_field(struct profile *profile, unsigned field, const struct sc_protobuf *value)
{
    struct sc_protobuf framed = message_in(profile);
    sc_protobuf_message(&framed, field, value);
    sc_gzip_put(&profile->file, framed.bytes, framed.size);
}

/* Returns the number of the string, module, function or frame with this digest, counted from
 * `first`. A new digest gets the next number, and *is_new becomes true: the caller then writes
 * it. */
static uint64_t number_of(struct profile *profile, struct sc_table *table,
                          const struct sc_digester *digester, uint64_t first, bool *is_new)
{
    struct sc_digester ended = *digester;
    struct sc_digest digest = sc_digest_end(&ended);
    struct known *known = (struct known *)(void *)sc_table_find(table, &digest);
    *is_new = !known;
    if (known)
        return known->number;
    known = sc_scratch_take(&profile->scratch, sizeof *known);
    known->node.digest = digest;
    known->number = first + table->count;
    sc_table_add(table, &known->node);
    return known->number;
}

/* ---- what samples name ---- */

/* Returns the number of a string in the profile, in which each stands once. The first one is the
 * empty string. */
static uint64_t string(struct profile *profile, const char *text)
{
    struct sc_digester digester;
    bool is_new;
    const char *plain = sc_say_plain(text ? text : "");
    sc_digest_begin(&digester);
    sc_digest_word(&digester, plain);
    uint64_t number = number_of(profile, &profile->strings, &digester, 0, &is_new);
    if (is_new) {
        struct sc_protobuf framed = message_in(profile);
        sc_protobuf_string(&framed, PROFILE_STRING, plain);
        sc_gzip_put(&profile->file, framed.bytes, framed.size);
    }
    return number;
}

/* Returns the number of the frame's module in the profile, or 0 if it has none. */
static uint64_t mapping(struct profile *profile, const struct sc_frame *frame)
{
    struct sc_digester digester;
    bool is_new;
    if (!frame || !frame->module)
        return 0;
    sc_digest_begin(&digester);
    sc_digest_word(&digester, frame->module);
    sc_digest_word(&digester, frame->build_id ? frame->build_id : "");
    uint64_t number = number_of(profile, &profile->mappings, &digester, 1, &is_new);
    if (!is_new)
        return number;
    struct sc_protobuf message = message_in(profile);
    sc_protobuf_number(&message, MAPPING_ID, number);
    sc_protobuf_number(&message, MAPPING_FILE, string(profile, frame->module));
    sc_protobuf_number(&message, MAPPING_BUILD_ID, string(profile, frame->build_id));
    sc_protobuf_number(&message, MAPPING_HAS_FUNCTIONS, 1);
    write_field(profile, PROFILE_MAPPING, &message);
    return number;
}

/* Returns the number of the function in the profile; it is written when it comes first. */
static uint64_t function(struct profile *profile, const char *name, const char *symbol,
                         const char *file)
{
    struct sc_digester digester;
    bool is_new;
    sc_digest_begin(&digester);
    sc_digest_word(&digester, name);
    sc_digest_word(&digester, file ? file : "");
    uint64_t number = number_of(profile, &profile->functions, &digester, 1, &is_new);
    if (!is_new)
        return number;
    struct sc_protobuf message = message_in(profile);
    sc_protobuf_number(&message, FUNCTION_ID, number);
    sc_protobuf_number(&message, FUNCTION_NAME, string(profile, name));
    sc_protobuf_number(&message, FUNCTION_SYSTEM_NAME, string(profile, symbol ? symbol : name));
    sc_protobuf_number(&message, FUNCTION_FILE, string(profile, file));
    write_field(profile, PROFILE_FUNCTION, &message);
    return number;
}

/* Writes a frame: its module, offset, function and line. `frame` NULL: none of these is known. */
static void write_location(struct profile *profile, uint64_t number, uint64_t in_mapping,
                           uint64_t of_function, const struct sc_frame *frame)
{
    struct sc_protobuf message = message_in(profile), line = message_in(profile);
    sc_protobuf_number(&message, LOCATION_ID, number);
    if (in_mapping > 0)
        sc_protobuf_number(&message, LOCATION_MAPPING, in_mapping);
    if (frame && frame->offset)
        sc_protobuf_number(&message, LOCATION_ADDRESS, strtoull(frame->offset, NULL, 16));
    sc_protobuf_number(&line, LINE_FUNCTION, of_function);
    if (frame && frame->line > 0)
        sc_protobuf_number(&line, LINE_LINE, (uint64_t)frame->line);
    sc_protobuf_message(&message, LOCATION_LINE, &line);
    write_field(profile, PROFILE_LOCATION, &message);
}

/* Returns the number of a frame in the profile. If `frame` is NULL, `name` stands for a missing
 * stack. */
static uint64_t location(struct profile *profile, const char *name, const struct sc_frame *frame)
{
    struct sc_digester digester;
    bool is_new;
    uint64_t in_mapping = mapping(profile, frame);
    uint64_t of_function =
        function(profile, name, frame ? frame->symbol : NULL, frame ? frame->file : NULL);
    sc_digest_begin(&digester);
    sc_digest_number(&digester, (int64_t)in_mapping);
    sc_digest_number(&digester, (int64_t)of_function);
    sc_digest_word(&digester, frame && frame->offset ? frame->offset : "");
    sc_digest_number(&digester, frame ? frame->line : 0);
    uint64_t number = number_of(profile, &profile->locations, &digester, 1, &is_new);
    if (is_new)
        write_location(profile, number, in_mapping, of_function, frame);
    return number;
}

/* ---- samples ---- */

/* Adds a label to a sample; NULL adds nothing. */
static void label(struct profile *profile, struct sc_protobuf *sample, const char *key,
                  const char *value)
{
    struct sc_protobuf message = message_in(profile);
    if (!value)
        return;
    sc_protobuf_number(&message, LABEL_KEY, string(profile, key));
    sc_protobuf_number(&message, LABEL_STRING, string(profile, value));
    sc_protobuf_message(sample, SAMPLE_LABEL, &message);
}

/* Adds to a sample what the account tells besides its stack, by which pprof can filter. */
static void put_labels(struct profile *profile, struct sc_protobuf *sample,
                       const struct sc_run *run, const struct sc_memory_account *account)
{
    struct sc_protobuf pid = message_in(profile);
    label(profile, sample, "kind", account->kind);
    label(profile, sample, "device", account->place->name);
    label(profile, sample, "owner", account->owner);
    label(profile, sample, "call", account->api);
    label(profile, sample, "label", account->label);
    label(profile, sample, "rank",
          sc_field_string(json_object_get(run->record, "run"), "rank", NULL));
    sc_protobuf_number(&pid, LABEL_KEY, string(profile, "pid"));
    sc_protobuf_number(&pid, LABEL_NUMBER, (uint64_t)run->pid);
    sc_protobuf_message(sample, SAMPLE_LABEL, &pid);
}

static const char *const types[][2] = {
    {"alloc_objects", "count"}, {"alloc_space", "bytes"}, {"inuse_objects", "count"},
    {"inuse_space", "bytes"},   {"peak_space", "bytes"},
};

enum { TYPES = sizeof types / sizeof types[0], DEFAULT_TYPE = 3 };

/* Writes an account as a sample: its stack, its bytes and its labels. */
static void write_sample(struct profile *profile, struct sc_model *model, const struct sc_run *run,
                         const struct sc_memory_account *account)
{
    const uint64_t values[TYPES] = {account->ever_blocks, account->ever_bytes, account->blocks,
                                    account->bytes, account->peak_bytes};
    struct sc_protobuf sample = message_in(profile);
    if (!account->is_own)
        return;
    for (size_t i = 0; i < account->stack.count; i++) {
        const struct sc_frame *frame = &account->stack.frames[i];
        const char *name = sc_shown_memory_frame(&model->scratch, frame);
        sc_protobuf_number(&sample, SAMPLE_LOCATION, location(profile, name, frame));
    }
    if (account->stack.count == 0)
        sc_protobuf_number(
            &sample, SAMPLE_LOCATION,
            location(profile, account->is_rest ? account->words : account->api, NULL));
    for (size_t i = 0; i < TYPES; i++)
        sc_protobuf_number(&sample, SAMPLE_VALUE, values[i]);
    put_labels(profile, &sample, run, account);
    write_field(profile, PROFILE_SAMPLE, &sample);
    sc_scratch_reset(&profile->messages);
}

/* Writes what the values of samples mean. */
static void write_types(struct profile *profile)
{
    string(profile, "");
    for (size_t i = 0; i < TYPES; i++) {
        struct sc_protobuf type = message_in(profile);
        sc_protobuf_number(&type, TYPE_TYPE, string(profile, types[i][0]));
        sc_protobuf_number(&type, TYPE_UNIT, string(profile, types[i][1]));
        write_field(profile, PROFILE_SAMPLE_TYPE, &type);
    }
    struct sc_protobuf usual = message_in(profile);
    sc_protobuf_number(&usual, PROFILE_DEFAULT_SAMPLE_TYPE,
                       string(profile, types[DEFAULT_TYPE][0]));
    sc_gzip_put(&profile->file, usual.bytes, usual.size);
}

static void free_profile(struct profile *profile)
{
    sc_table_free(&profile->strings);
    sc_table_free(&profile->mappings);
    sc_table_free(&profile->functions);
    sc_table_free(&profile->locations);
    sc_scratch_free(&profile->scratch);
    sc_scratch_free(&profile->messages);
}

/* Writes the program as the profile's first module, which readers take for the program. */
static void write_program(struct profile *profile, const struct sc_run *run)
{
    const json_t *command = json_object_get(json_object_get(run->record, "run"), "command");
    const char *program = json_string_value(json_array_get(command, 0));
    mapping(profile, &(const struct sc_frame){.module = program});
}

/* Writes memory by call stacks as a profile for pprof. Its strings, modules, functions and frames
 * are written once, when first used. */
void sc_as_pprof(FILE *out, struct sc_model *model)
{
    struct profile profile = {.file.out = out};
    write_types(&profile);
    for (size_t i = 0; i < model->reader->run_count; i++) {
        const struct sc_run *run = sc_model_run(model, i);
        const struct sc_memory memory = sc_shown_memory_of_process(model, run);
        if (i == 0)
            write_program(&profile, run);
        for (size_t at = 0; at < memory.account_count; at++)
            write_sample(&profile, model, run, &memory.accounts[at]);
    }
    sc_gzip_end(&profile.file);
    free_profile(&profile);
}
