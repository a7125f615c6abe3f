#define _GNU_SOURCE 1
#include "report/json_lines.h"

#include "common/hazard.h"
#include "common/hazard_words.h"
#include "common/text.h"
#include "report/annotations.h"
#include "report/file.h"
#include "report/guard_part.h"
#include "report/json.h"
#include "report/limits_part.h"
#include "report/mapped_file.h"
#include "report/memory_limits.h"
#include "report/memory_part.h"
#include "report/modules.h"
#include "report/path.h"
#include "report/roll.h"
#include "report/suppressing.h"
#include "report/suppressions.h"
#include "report/um_part.h"
#include "report/version.h"
#include "track/no_verdicts.h"
#include "track/origins.h"

#include <string.h>

#include "common/poison.h"

/* RESERVE is room for the rest of a line, behind a list that took all the room it might take. */
enum { RESERVE = 1024, SYMBOL_MAX = 2048, ACCOUNTS_MAX = 10 };

/* Takes back the list element that was just written (from `before` on), if it leaves less than
 * `reserve` bytes for the rest of the line: so a line is valid JSON however small its buffer is.
 * Returns whether the element stays. */
bool sc_json_lines_keep(struct sc_text *line, size_t before, size_t reserve)
{
    if (!line->cut && line->used + reserve < line->size)
        return true;
    sc_text_rewind(line, before);
    return false;
}

/* Finds module and symbol of each frame of the stack. Done before a lock of the library's is
 * taken: dladdr takes the loader's lock, whose holder may wait for ours. Id 0 is no stack. */
void sc_json_lines_name_stack(uint32_t id, struct sc_json_lines_stack *stack)
{
    void *const *frames;
    stack->count = id != 0 ? sc_stacks_get(id, &frames) : 0;
    if (stack->count > SC_STACK_DEPTH_MAX)
        stack->count = SC_STACK_DEPTH_MAX;
    for (unsigned i = 0; i < stack->count; i++)
        sc_report_symbolise(frames[i], &stack->frames[i]);
}

/* Writes the member `key` with the module's path. The loader keeps a relative path as it was
 * given, which leads nowhere after chdir: Linux knows which file is mapped at `base`. A bare name
 * (without '/') is written as it is. */
static void put_module(struct sc_text *line, const char *key, const char *name, uintptr_t base)
{
    char path[4096];
    const char *known = NULL;
    if (name && strchr(name, '/'))
        known = sc_mapped_file_of_module(name, base, path, sizeof path);
    sc_json_put(line, "%s:%s", key, known ? known : name);
}

/* Writes a frame of Python code; line null: CPython does not know it. */
static void put_python_frame(struct sc_text *line, const struct sc_python_frame *frame)
{
    sc_json_put(line, "{");
    sc_json_bytes(line, "file", frame->file, frame->file_bytes);
    sc_json_put(line, "line~:%d", frame->line > 0 ? frame->line : -1);
    sc_json_bytes(line, "function", frame->function, frame->function_bytes);
    sc_json_put(line, "}");
}

/* Appends one frame of a stack. The symbol is read through `memory` (/proc/self/mem), since its
 * module may have been closed meanwhile. Without the whole symbol null is written: the command
 * looks it up in the module's file. */
static void put_frame(struct sc_text *line, const struct sc_report_frame *frame, int memory)
{
    char symbol[SYMBOL_MAX];
    if (frame->is_python) {
        put_python_frame(line, &frame->python);
        return;
    }
    /* A cut name cannot be demangled: none is read then. */
    bool has_symbol =
        frame->symbol && sc_file_read_string(memory, frame->symbol, symbol, sizeof symbol);
    sc_json_put(line, "{");
    put_module(line, "module", frame->module, frame->base);
    sc_json_put(line, "offset:%#lx symbol:%s}", frame->offset, has_symbol ? symbol : NULL);
}

/* Returns how many bytes a list element must leave free, so that each of the `more` elements
 * behind it gets as much room as this one, and `reserve` stays for the end of the line. */
size_t sc_json_lines_share(const struct sc_text *line, unsigned more, size_t reserve)
{
    size_t left = line->size - line->used;
    return left > reserve ? left - (left - reserve) / (more + 1) : reserve;
}

/* Appends frames, innermost first, as long as `reserve` bytes of the line stay free. Outer frames
 * tell least, so they are left out. Names of symbols are read through `memory`, the process's own
 * as a file, since a library may be unloaded meanwhile. */
void sc_json_lines_put_stack(struct sc_text *line, const struct sc_json_lines_stack *stack,
                             size_t reserve)
{
    int memory = sc_file_open_memory();
    sc_json_put(line, "stack:[");
    for (unsigned i = 0; i < stack->count; i++) {
        size_t before = line->used;
        put_frame(line, &stack->frames[i], memory);
        if (!sc_json_lines_keep(line, before, reserve))
            break;
    }
    sc_json_put(line, "]");
    sc_file_close(memory);
}

/* Writes the call that made a buffer or a stream (`id` is of track/origins.h); nothing if that
 * call was not seen. Its stack may take a quarter of the room that is left, since the other stacks
 * tell more. */
static void put_origin(struct sc_text *line, const char *key, uint32_t id,
                       const struct sc_json_lines_stack *stack)
{
    struct sc_origin origin = sc_origins_get(id);
    if (!origin.api)
        return;
    sc_json_put(line, "%s:{api:%s", key, origin.api);
    sc_json_lines_put_stack(line, stack, RESERVE + (line->size - line->used) / 4 * 3);
    sc_json_put(line, "}");
}

/* Stores the thread's name, as Linux knows it; "" if the thread has ended. The file ends with a
 * newline, which is left out. */
static void find_thread_name(int32_t thread, char name[SC_THREAD_NAME_SIZE])
{
    char path[64], read[SC_THREAD_NAME_SIZE];
    struct sc_text text = sc_text_in(path, sizeof path);
    sc_text_format(&text, "/proc/self/task/%d/comm", thread);
    long size = sc_file_read(path, read, sizeof read); /* with a newline */
    memset(name, 0, SC_THREAD_NAME_SIZE);
    if (size > 0)
        memcpy(name, read, (size_t)size - 1);
}

/* Writes the thread's id and its name. A name equal to the process's, which threads inherit, says
 * nothing and is left out. `name` is "" if nobody asked yet: Linux is asked, which knows it as
 * long as the thread lives. */
static void put_thread(struct sc_text *line, int32_t thread, const char *name,
                       const struct sc_path_names *names)
{
    char found[SC_THREAD_NAME_SIZE], process[SC_THREAD_NAME_SIZE];
    sc_json_put(line, "thread:%d", thread);
    if (name[0] == '\0') {
        find_thread_name(thread, found);
        name = found;
    }
    if (name[0] == '\0')
        return;
    find_thread_name(names->pid, process);
    if (strcmp(name, process) != 0)
        sc_json_put(line, "thread_name:%s", name);
}

/* Writes the operation that was hurt (a copy, mostly): what it does with which bytes, on which
 * stream, and who issued it when. */
static void put_copy(struct sc_text *line, const struct sc_hazard_copy *copy,
                     const struct sc_path_names *names)
{
    sc_json_put(line,
                "api:%s runtime_api?:%s correlation_id?:%u direction:%s address:%#lx size:%lu "
                "stream:%#lx device:%d seq:%lu",
                copy->api, copy->runtime_api, copy->correlation_id,
                sc_hazard_direction_string(copy->direction), copy->address, copy->size_bytes,
                copy->stream, copy->device, copy->seq);
    put_thread(line, copy->thread, "", names);
    sc_json_put(line, "time_ns:%lu", copy->time_ns);
}

/* Writes as member `key` a call or an access that belongs to the hazard: the one that came too
 * early, the free before it, or the call that added a graph's node. */
static void put_event(struct sc_text *line, const char *key, const struct sc_hazard_event *event,
                      const struct sc_json_lines_stack *stack, size_t reserve,
                      const struct sc_path_names *names)
{
    sc_json_put(line, "%s:{api:%s runtime_api?:%s", key, event->api, event->runtime_api);
    put_thread(line, event->thread, event->thread_name, names);
    sc_json_put(line, "time_ns:%lu", event->time_ns);
    sc_json_lines_put_stack(line, stack, reserve);
    sc_json_put(line, "}");
}

/* Writes the two nodes of a graph that race for the same bytes, and for each the call that added
 * it. The first node's stack may take half of the room that is left. */
static void put_nodes(struct sc_text *line, const struct sc_hazard *hazard,
                      const struct sc_json_lines_stacks *stacks, const struct sc_path_names *names)
{
    sc_json_put(line, "nodes:[");
    for (unsigned i = 0; i < 2; i++) {
        const struct sc_hazard_node *node = &hazard->nodes[i];
        sc_json_put(line, "{direction:%s use:%s address:%#lx size:%lu",
                    sc_hazard_direction_string(node->direction), node->reads ? "read" : "write",
                    node->address, node->size_bytes);
        if (node->author.api)
            put_event(line, "author", &node->author, &stacks->nodes[i],
                      RESERVE + (i ? 0 : (line->size - line->used) / 2), names);
        sc_json_put(line, "}");
    }
    sc_json_put(line, "]");
}

/* Writes which limit of a context was asked for too late (SC603): what was asked, what holds, and
 * the kernel whose launch has fixed it. */
static void put_limit(struct sc_text *line, const struct sc_hazard_limit *limit)
{
    sc_json_put(line, "limit:{name:%s asked:%lu in_force:%lu kernel:%s}", limit->name, limit->asked,
                limit->in_force, limit->kernel);
}

/* Returns how much room the event's stack must leave in the line: half of what is left if another
 * stack follows (of the free, or of a race's nodes). */
static size_t event_reserve(const struct sc_text *line, const struct sc_hazard *hazard)
{
    bool more = hazard->freed.api || sc_hazard_is_race(hazard);
    return more ? RESERVE + (line->size - line->used) / 2 : RESERVE;
}

/* Writes the line of a hazard. The members of fixed size come to a few hundred bytes; stacks take
 * what room is left, each a share of it. `count` says how many equal hazards there were so far. */
void sc_json_lines_hazard(struct sc_text *line, const struct sc_hazard *hazard, uint64_t count,
                          const struct sc_json_lines_stacks *stacks,
                          const struct sc_path_names *names)
{
    sc_json_put(line,
                "{type:'hazard' code:%s name:%s certainty:%s action:%s buffer:{address:%#lx "
                "size:%lu kind:%s blocks?:%lu room?:%lu",
                sc_hazard_code_string(hazard->code), sc_hazard_name(hazard->code),
                sc_hazard_certainty_string(hazard->certainty),
                sc_hazard_action_string(hazard->action), hazard->buffer_address,
                hazard->buffer_size_bytes, sc_hazard_buffer_kind_string(hazard->buffer_kind),
                hazard->blocks, hazard->room_bytes);
    put_origin(line, "origin", hazard->buffer_origin, &stacks->buffer);
    sc_json_put(line, "} copy:{");
    put_copy(line, &hazard->copy, names);
    /* A stack may take half of what is left, so that the next one has room too. */
    sc_json_lines_put_stack(line, &stacks->copy, RESERVE + (line->size - line->used) / 2);
    put_origin(line, "stream_origin", hazard->copy.stream_origin, &stacks->stream);
    sc_json_put(line, "}");
    put_event(line, "event", &hazard->event, &stacks->event, event_reserve(line, hazard), names);
    if (sc_hazard_is_race(hazard))
        put_nodes(line, hazard, stacks, names);
    if (hazard->freed.api)
        put_event(line, "freed", &hazard->freed, &stacks->freed, RESERVE, names);
    if (hazard->limit.name)
        put_limit(line, &hazard->limit);
    sc_json_put(line, "advisory?:%hhd found_later?:%hhd label?:%s count:%lu}\n",
                sc_hazard_is_advisory(hazard), hazard->found_later, hazard->label, count);
}

/* Writes a `timing` line: when the copy of a hazard ran on the device, which CUPTI tells later
 * than the hazard is found. `code`, `stream`, `seq` and `event_time_ns` say which hazard line it
 * belongs to. */
void sc_json_lines_timing(struct sc_text *line, const struct sc_hazard *hazard,
                          const struct sc_report_timing *timing)
{
    sc_json_put(line,
                "{type:'timing' code:%s stream:%#lx seq:%lu correlation_id:%u event_time_ns:%lu "
                "device_start_ns:%lu device_end_ns:%lu remaining_ns:%ld}\n",
                sc_hazard_code_string(hazard->code), hazard->copy.stream, hazard->copy.seq,
                hazard->copy.correlation_id, hazard->event.time_ns, timing->start_ns,
                timing->end_ns, (int64_t)(timing->end_ns - hazard->event.time_ns));
}

/* Writes the process's arguments, as many as fit half of the line: the options and modules behind
 * them matter more. */
static void put_command(struct sc_text *line)
{
    static char arguments[16384]; /* sc_json_lines_run has one caller at a time */
    long size = sc_file_read("/proc/self/cmdline", arguments, sizeof arguments - 1);
    sc_json_put(line, "command:[");
    for (long at = 0; at < size;) {
        arguments[size] = '\0';
        size_t before = line->used;
        sc_json_put(line, "%s", arguments + at);
        if (!sc_json_lines_keep(line, before, line->size / 2))
            break;
        at += (long)strlen(arguments + at) + 1;
    }
    sc_json_put(line, "]");
}

/* Returns the version for a member that is null if negative: 0 means not known. */
static int known_version(int version)
{
    return version > 0 ? version : -1;
}

/* Writes all options with their values, defaults included. The buffer is static: one thread at a
 * time writes a run line, and a path has 4 KB. */
static void put_options(struct sc_text *line, const struct sc_options *options)
{
    static char value[SC_OPTIONS_PATH_SIZE];
    const char *key;
    sc_json_put(line, "options:{");
    for (unsigned i = 0; (key = sc_options_get(options, i, value, sizeof value)) != NULL; i++)
        sc_json_put(line, "%s:%s", key, value);
    sc_json_put(line, "}");
}

/* Lists what the library cannot do in a process where it is not preloaded and its hooks are not
 * called, in the documentation's words. */
static void put_protections_off(struct sc_text *line)
{
    static const char *const off[] = {
        "free, realloc, munmap and their like", "page protection of buffers in flight",
        "snapshots of sources", "repair of captures", "memory that graphs name"};
    sc_json_put(line, "protections_off:[");
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++)
        sc_json_put(line, "%s", off[i]);
    sc_json_put(line, "]");
}

/* Where put_loaded_module writes the modules that it visits. */
struct module_writer {
    struct sc_text *line;
    const struct sc_path_names *names;
    bool has_any;
};

/* Writes one loaded module, with the build id by which `safecopy report` finds its debug file.
 * Returns 0 if there is no room left: the visit ends, and this module comes first in the next
 * line. */
static int put_loaded_module(const struct sc_module *module, void *context)
{
    struct module_writer *writer = context;
    struct sc_text *line = writer->line;
    size_t before = line->used;
    SC_TEXT(id, 2 * 64 + 1);
    for (size_t i = 0; i < module->build_id_length && i < 64; i++) {
        sc_text_format(&id, "%c%c", "0123456789abcdef"[module->build_id[i] >> 4],
                       "0123456789abcdef"[module->build_id[i] & 15]);
    }
    sc_json_put(line, "{");
    put_module(line, "path", module->name[0] != '\0' ? module->name : writer->names->executable,
               module->base);
    sc_json_put(line, "base:%#lx build_id:%s}", module->base, id.used > 0 ? id.bytes : NULL);
    bool is_kept = sc_json_lines_keep(line, before, RESERVE);
    writer->has_any = writer->has_any || is_kept;
    return is_kept;
}

/* Lists the modules that no line has yet, as far as there is room. Frames name a module by path,
 * and these lines say which build that was. Returns whether any was listed. */
static bool put_modules(struct sc_text *line, const struct sc_path_names *names)
{
    struct module_writer writer = {line, names, false};
    sc_json_put(line, "modules:[");
    sc_modules_each_new(put_loaded_module, &writer);
    sc_json_put(line, "]");
    return writer.has_any;
}

/* Writes the members that tell this process from all others. They stay the same after an exec, so
 * that readers can match what it wrote before and after. */
void sc_json_lines_process(struct sc_text *line, int32_t pid, uint64_t started, const char *host)
{
    sc_json_put(line, "pid:%d started:%lu host:%s", pid, started, host);
}

/* Writes the run line, the report's first: which process, with which options, drivers, devices and
 * modules. own_report.c recognises a report of ours by these members in this order. */
void sc_json_lines_run(struct sc_text *line, const struct sc_options *options,
                       const struct sc_report_run *run, const struct sc_path_names *names)
{
    sc_json_put(line, "{type:'run' schema:%d version:%s", SC_REPORT_SCHEMA, SC_VERSION);
    put_command(line);
    sc_json_lines_process(line, names->pid, names->started, names->host);
    sc_json_put(line, "rank~:%s ledger?:%s driver_version~:%d runtime_version~:%d devices:[",
                names->rank, sc_roll_value(), known_version(run->driver_version),
                known_version(run->runtime_version));
    for (unsigned i = 0; i < run->device_count; i++)
        sc_json_put(line, "%s", run->device_names[i]);
    sc_json_put(line, "]");
    sc_memory_limits_put(line);
    if (run->alone)
        put_protections_off(line);
    sc_json_put(line, "unreached?:%hhd", run->unreached);
    put_options(line, options);
    put_modules(line, names);
    sc_json_put(line, "}\n");
}

/* Writes a line with the modules that were loaded since the last such line. Returns false if there
 * are none: the line is then not to be written. */
bool sc_json_lines_modules(struct sc_text *line, const struct sc_path_names *names)
{
    sc_json_put(line, "{type:'modules'");
    bool has_any = put_modules(line, names);
    sc_json_put(line, "}\n");
    return has_any;
}

/* Lists the entries of SAFECOPY_OPTIONS that were bad and changed nothing; `ignored` has them
 * divided by ':'. */
static void put_ignored(struct sc_text *line, const char *ignored)
{
    sc_json_put(line, "options_ignored:[");
    while (*ignored != '\0') {
        size_t before = line->used;
        size_t length = strcspn(ignored, ":");
        sc_json_bytes(line, NULL, ignored, length);
        if (!sc_json_lines_keep(line, before, RESERVE))
            break;
        ignored += length;
        ignored += *ignored == ':';
    }
    sc_json_put(line, "]");
}

/* Writes a line about a driver call that the library did not see but CUPTI did. `count`: how many
 * equal ones so far. */
void sc_json_lines_miss(struct sc_text *line, const struct sc_report_miss *miss, uint64_t count,
                        const struct sc_json_lines_stack *stack)
{
    sc_json_put(line, "{type:'coverage' api:%s runtime_api:%s thread:%d time_ns:%lu", miss->api,
                miss->runtime_api, miss->thread, miss->time_ns);
    sc_json_lines_put_stack(line, stack, RESERVE);
    sc_json_put(line, "count:%lu}\n", count);
}

/* Writes whether CUPTI tells the library of calls, and if not, why. */
static void put_cupti(struct sc_text *line, const struct sc_report_cupti *cupti)
{
    sc_json_put(line, "state:%s version~:%d library~:%s detail~:%s",
                cupti->state ? cupti->state : "unused", known_version((int)cupti->version),
                cupti->library, cupti->detail);
}

/* Writes the line that says that CUPTI, which an option wants, is not or no longer to be had. */
void sc_json_lines_cupti(struct sc_text *line, const struct sc_report_cupti *cupti)
{
    sc_json_put(line, "{type:'cupti'");
    put_cupti(line, cupti);
    sc_json_put(line, "}\n");
}

/* Writes how many of CUPTI's records of copies belonged to hazards; nothing unless the option
 * timeline is on. */
static void put_timeline(struct sc_text *line, const struct sc_report_timeline *timeline)
{
    if (!timeline->state)
        return;
    sc_json_put(line, "timeline:{state:%s records:%lu dropped:%lu matched:%lu}", timeline->state,
                timeline->records, timeline->dropped, timeline->matched);
}

/* Writes how many hazards there were of each code; codes without any are left out. */
void sc_json_lines_put_by_code(struct sc_text *line, const uint64_t *by_code)
{
    sc_json_put(line, "by_code:{");
    for (unsigned code = 0; code < SC_HAZARD_CODE_COUNT; code++)
        if (by_code[code] > 0)
            sc_json_put(line, "%s:%lu", sc_hazard_code_string(code), by_code[code]);
    sc_json_put(line, "}");
}

static const char *const reason_names[] = {
#define X(reason, name, words) [SC_NO_VERDICT_##reason] = name,
    SC_NO_VERDICT_REASONS(X)
#undef X
};

/* Returns how many bytes the operations had that were not watched, for all reasons together. */
static uint64_t bytes_of_all(const struct sc_no_verdicts *counts)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < SC_NO_VERDICT_COUNT; i++)
        sum += sc_no_verdicts_bytes_of(counts, i);
    return sum;
}

/* Appends how many operations were not watched, in all and by reason: their memory was not
 * protected, so an access that came too early could not be seen. */
static void put_unguarded(struct sc_text *line, const struct sc_no_verdicts *counts)
{
    sc_json_put(line, "unguarded:{operations:%lu bytes:%lu by_reason:{",
                sc_no_verdicts_of_unit(counts, SC_NO_VERDICT_UNWATCHED), bytes_of_all(counts));
    for (unsigned i = 0; i < SC_NO_VERDICT_COUNT; i++) {
        uint64_t operations = sc_no_verdicts_of(counts, SC_NO_VERDICT_UNWATCHED, i);
        if (operations > 0)
            sc_json_put(line, "%s:{operations:%lu bytes:%lu}", reason_names[i], operations,
                        sc_no_verdicts_bytes_of(counts, i));
    }
    sc_json_put(line, "}}");
}

/* Appends how many accesses and operations got no verdict (neither correct nor a hazard), by
 * reason. Operations that were not watched are among them. */
static void put_unjudged(struct sc_text *line, const struct sc_no_verdicts *counts)
{
    uint64_t uses = 0;
    for (unsigned i = 0; i < SC_NO_VERDICT_COUNT; i++)
        uses += sc_no_verdicts_of_reason(counts, i);
    sc_json_put(line, "unjudged:{uses:%lu by_reason:{", uses);
    for (unsigned i = 0; i < SC_NO_VERDICT_COUNT; i++)
        if (sc_no_verdicts_of_reason(counts, i) > 0)
            sc_json_put(line, "%s:%lu", reason_names[i], sc_no_verdicts_of_reason(counts, i));
    sc_json_put(line, "}}");
}

/* Writes how many hazards one suppression, or one reason that the program gave, has left out. One
 * that left out none is passed by. At most half of the line goes to these. */
static void put_suppressed_by(struct sc_text *line, struct sc_part name, struct sc_part reason,
                              uint64_t count)
{
    size_t before = line->used;
    if (count == 0)
        return;
    sc_json_put(line, "{");
    if (name.length > 0)
        sc_json_bytes(line, "name", name.bytes, name.length);
    else
        sc_json_put(line, "name:null");
    sc_json_bytes(line, "reason", reason.bytes, reason.length);
    sc_json_put(line, "count:%lu}", count);
    sc_json_lines_keep(line, before, line->size / 2);
}

/* Lists the suppressions that nobody needs: with `expired` those whose date has passed, else those
 * that have left nothing out. */
static void put_names(struct sc_text *line, const char *key, bool expired)
{
    const struct sc_suppression *entry;
    sc_json_put(line, "%s:[", key);
    for (unsigned i = 0; (entry = sc_suppressing_entry(i)) != NULL; i++) {
        size_t before = line->used;
        if (entry->is_expired == expired && entry->used == 0)
            sc_json_bytes(line, NULL, entry->name.bytes, entry->name.length);
        if (!sc_json_lines_keep(line, before, line->size / 4))
            break;
    }
    sc_json_put(line, "]");
}

/* Lists how many hazards were left out and why: by each suppression, and by the program itself
 * (then the name is null). */
static void put_suppressed(struct sc_text *line, const uint64_t *by_reason)
{
    const struct sc_suppression *entry;
    const char *reason;
    sc_json_put(line, "suppressed_by:[");
    for (unsigned i = 0; (entry = sc_suppressing_entry(i)) != NULL; i++)
        put_suppressed_by(line, entry->name, entry->reason, entry->used);
    for (unsigned i = 1; (reason = sc_annotations_reason(i)) != NULL; i++)
        put_suppressed_by(line, (struct sc_part){NULL, 0}, (struct sc_part){reason, strlen(reason)},
                          by_reason[i]);
    sc_json_put(line, "]");
    put_names(line, "suppressions_unused", /*expired*/ false);
    put_names(line, "suppressions_expired", /*expired*/ true);
}

/* Writes a `memory` line, which the process adds from time to time or at a signal: the accounts
 * (call stacks) with most memory only. */
void sc_json_lines_memory(struct sc_text *line, const struct sc_memory_part *memory)
{
    sc_json_put(line, "{type:'memory'");
    sc_memory_part_put(line, memory, ACCOUNTS_MAX, RESERVE);
    sc_json_put(line, "}\n");
}

/* Writes what a `memory` line has as one JSON object, for safecopy_memory(); {} without a
 * ledger. */
void sc_json_lines_held(struct sc_text *text, const struct sc_memory_part *memory)
{
    sc_json_put(text, "{");
    if (memory)
        sc_memory_part_put(text, memory, SC_STATEMENT_ACCOUNTS, RESERVE);
    sc_json_put(text, "}");
}

/* Writes the `summary` line, the report's last: counts of all that was found, and what was not
 * looked at. Members that are mostly 0 (key?:) are left out if they are. */
void sc_json_lines_summary(struct sc_text *line, const struct sc_options *options,
                           const struct sc_report_totals *totals,
                           const struct sc_report_counts *counts, const uint64_t *by_code,
                           const uint64_t *by_reason, const struct sc_guard_part_sites *sites,
                           const struct sc_memory_part *memory, const struct sc_limits_part *limits)
{
    sc_json_put(line,
                "{type:'summary' hazards:%lu observed:%lu latent:%lu advisories?:%lu "
                "suppressed:%lu",
                counts->hazards, counts->observed, counts->latent, counts->advisories,
                counts->suppressed);
    put_suppressed(line, by_reason);
    sc_json_lines_put_by_code(line, by_code);
    sc_json_put(line,
                "operations:%lu held_peak_bytes:%lu held_peak_ns:%lu taken_early:%lu "
                "driver_late:%lu shared_memory:%lu beside_unjudged:%lu",
                totals->operations, totals->held_peak_bytes, totals->held_peak_ns,
                totals->taken_early, totals->driver_late, totals->shared_memory,
                sc_no_verdicts_of_reason(totals->no_verdicts, SC_NO_VERDICT_CAPTURE));
    if (totals->no_verdicts) {
        put_unguarded(line, totals->no_verdicts);
        put_unjudged(line, totals->no_verdicts);
        sc_guard_part_put(line, options, &totals->guard, sites);
    }
    sc_json_put(line, "coverage:{calls:%lu wrapped:%lu missed:%lu} cupti:{", totals->coverage.calls,
                totals->coverage.wrapped, totals->coverage.missed);
    put_cupti(line, &totals->cupti);
    sc_json_put(line, "}");
    put_timeline(line, &totals->timeline);
    sc_um_part_put(line, &totals->um);
    put_ignored(line, options->ignored);
    if (limits)
        sc_limits_part_put(line, limits);
    if (memory)
        sc_memory_part_put(line, memory, SC_STATEMENT_ACCOUNTS, RESERVE);
    sc_json_put(line, "exit_status~:%d}\n", totals->exit_status);
}
