#include "report/call_words.h"

#include "common/text.h"
#include "report/file.h"
#include "report/frame_kinds.h"
#include "report/json_lines.h"
#include "report/plain.h"
#include "report/symtab.h"

#include <string.h>

#include "common/poison.h"

enum { NAME_SIZE = 1024, API_SIZE = 128 };

/* ---- frames in words ---- */

/* Appends one part of a mangled C++ name and moves *at after it: an identifier with its length in
 * front ("5Batch"), or a constructor (C1) or destructor (D1), which is written by `class_name`,
 * the last identifier so far. Returns false for anything else, such as a template. */
static bool put_part(struct sc_text *text, const char **at, struct sc_text *class_name)
{
    size_t length = 0;
    const char *from = *at;
    while (*from >= '0' && *from <= '9' && length < 1000)
        length = 10 * length + (size_t)(*from++ - '0');
    if (length > 0 && strnlen(from, length) == length) {
        sc_text_bytes(text, from, length);
        sc_text_rewind(class_name, 0);
        sc_text_bytes(class_name, from, length);
        *at = from + length;
        return true;
    }
    bool is_constructor = from[0] == 'C' && from[1] >= '1' && from[1] <= '3';
    bool is_destructor = from[0] == 'D' && from[1] >= '0' && from[1] <= '2';
    if (class_name->used == 0 || (!is_constructor && !is_destructor))
        return false;
    sc_text_format(text, "%s%s", is_destructor ? "~" : "", class_name->bytes);
    *at = from + 2;
    return true;
}

/* Appends a plain C++ name without its parameters: _ZN5BatchD1Ev becomes Batch::~Batch. Any other
 * symbol is appended as it is, templates mangled: __cxa_demangle allocates, which must not happen
 * in the user's process, and `safecopy report` demangles them later. */
static void put_symbol(struct sc_text *text, const char *symbol)
{
    size_t start = text->used;
    bool is_nested = strncmp(symbol, "_ZN", 3) == 0;
    const char *at = symbol + (is_nested ? 3 : 2);
    SC_TEXT(class_name, 256);
    bool is_understood = strncmp(symbol, "_Z", 2) == 0;
    if (is_nested && *at == 'K')
        at++;
    for (bool first = true; is_understood && (first || (is_nested && *at != 'E')); first = false) {
        sc_text_put(text, first ? "" : "::");
        is_understood = put_part(text, &at, &class_name);
    }
    if (is_understood && (is_nested || *at != 'I'))
        return;
    sc_text_rewind(text, start);
    sc_text_put(text, symbol);
}

/* Copies the frame's function name out of the module's memory, by /proc/self/mem: another thread
 * may close the module meanwhile, and then the read fails instead of raising SIGSEGV. Returns
 * false if there is no name. */
static bool read_symbol(const struct sc_report_frame *frame, char *name, size_t size)
{
    int memory = frame->symbol ? sc_file_open_memory() : -1;
    bool is_read = memory >= 0 && sc_file_read_string(memory, frame->symbol, name, size);
    sc_file_close(memory);
    return is_read;
}

/* Stores the name of the frame's function: the one that the loader knows, or else the one in the
 * symbol table of the module's file, which also lists static functions. */
static bool find_symbol(const struct sc_report_frame *frame, char *name, size_t size)
{
    return frame->symbol ? read_symbol(frame, name, size) : sc_symtab_find(frame, name, size);
}

/* Puts a Python frame, as "load_batch (train.py:12)". */
static void put_python_frame(struct sc_text *text, const struct sc_python_frame *frame)
{
    sc_plain_put(text, frame->function, frame->function_bytes);
    sc_text_put(text, " (");
    sc_plain_put(text, frame->file, frame->file_bytes);
    if (frame->line > 0)
        sc_text_format(text, ":%lu", (uint64_t)frame->line);
    sc_text_char(text, ')');
}

/* Puts a native frame, as "load_batch (libdata.so+0x1234)", or "libdata.so+0x1234" without a
 * name. */
static void put_native_frame(struct sc_text *text, const struct sc_report_frame *frame,
                             const char *name)
{
    SC_TEXT(symbol, NAME_SIZE);
    sc_plain_put(&symbol, name, strlen(name));
    if (symbol.used > 0) {
        put_symbol(text, symbol.bytes);
        sc_text_put(text, " (");
    }
    const char *module = frame->module ? frame->module : "";
    sc_plain_put(text, module, strlen(module));
    sc_text_format(text, "%s%#lx", module[0] != '\0' ? "+" : "", frame->offset);
    if (symbol.used > 0)
        sc_text_char(text, ')');
}

/* ---- what was called, and where ---- */

/* What the frames of one call's stack tell of the call, for the words in a message. */
struct facts {
    const struct sc_report_frame *place; /* the frame to show; NULL: there is none */
    char name[NAME_SIZE];                /* of the function of `place`; "": not known */
    char api[API_SIZE];                  /* the runtime's function that was called; "": none */
};

/* Is it a capital letter, in any locale? */
static bool is_upper(char character)
{
    return character >= 'A' && character <= 'Z';
}

/* Returns the frame by which people are shown where a Python program made the call: the innermost
 * Python frame of the user's own code, or else the innermost Python frame. NULL: there is none. */
static const struct sc_report_frame *find_python(const struct sc_json_lines_stack *stack)
{
    const struct sc_report_frame *innermost = NULL;
    for (unsigned i = 0; i < stack->count; i++) {
        const struct sc_report_frame *frame = &stack->frames[i];
        if (!frame->is_python)
            continue;
        if (sc_frame_kind_of_path(frame->python.file, frame->python.file_bytes) == SC_FRAME_USER)
            return frame;
        innermost = innermost ? innermost : frame;
    }
    return innermost;
}

/* Does the frame belong to CUDA's runtime or libc, and not to the user? `kind` is what the
 * module's file name tells. A runtime that is linked into the program is recognised by the names
 * of its functions, which may take a search in the file. `name` becomes the function's name, or
 * "". */
static bool is_runtimes(const struct sc_report_frame *frame, enum sc_frame_kind kind, char *name)
{
    bool is_named = kind == SC_FRAME_USER ? find_symbol(frame, name, NAME_SIZE)
                                          : read_symbol(frame, name, NAME_SIZE);
    if (!is_named)
        name[0] = '\0';
    return kind == SC_FRAME_RUNTIME ||
           (is_named && sc_frame_kind_of_function(name) == SC_FRAME_RUNTIME);
}

/* Walks the stack from the driver's function outwards. First come frames of the CUDA runtime: the
 * outermost one with a public name (cudaMemcpyAsync) is what the program called (`api`). The first
 * frame of the user's code is the place to show. Frames of other libraries, and of libc behind
 * them, are neither. To name a frame is slow, so the walk ends at the place. */
static void read_native_frames(const struct sc_json_lines_stack *stack, struct facts *facts)
{
    bool is_within_runtime = true;
    for (unsigned i = 0; i < stack->count && !stack->frames[i].is_python; i++) {
        const struct sc_report_frame *frame = &stack->frames[i];
        enum sc_frame_kind kind =
            frame->module ? sc_frame_kind_of_module(frame->module) : SC_FRAME_USER;
        is_within_runtime = is_within_runtime && kind != SC_FRAME_LIBRARY;
        if (kind == SC_FRAME_LIBRARY || (kind == SC_FRAME_RUNTIME && !is_within_runtime))
            continue;
        if (!is_runtimes(frame, kind, facts->name)) {
            facts->place = frame;
            return;
        }
        if (is_within_runtime) {
            if (strncmp(facts->name, "cuda", 4) == 0 && is_upper(facts->name[4]) &&
                strlen(facts->name) < API_SIZE)
                strcpy(facts->api, facts->name);
        }
    }
}

/* Finds out from the stack what was called and which frame to show. A Python frame is preferred to
 * a native one, which is only part of what this Python line calls. Without either the innermost
 * frame is shown, so that a place is named at all. */
static void read_stack(uint32_t stack_id, struct sc_json_lines_stack *stack, struct facts *facts)
{
    facts->place = NULL;
    facts->name[0] = facts->api[0] = '\0';
    sc_json_lines_name_stack(stack_id, stack);
    read_native_frames(stack, facts);
    const struct sc_report_frame *python = find_python(stack);
    if (python)
        facts->place = python;
    if (facts->place || stack->count == 0)
        return;
    facts->place = &stack->frames[0];
    if (!find_symbol(facts->place, facts->name, sizeof facts->name))
        facts->name[0] = '\0';
}

/* Appends `preposition` and the frame to show; nothing if there is no stack. */
void sc_call_words_put_place(struct sc_text *text, const char *preposition, uint32_t stack_id)
{
    struct sc_json_lines_stack stack;
    struct facts facts;
    read_stack(stack_id, &stack, &facts);
    if (!facts.place)
        return;
    sc_text_put(text, preposition);
    if (facts.place->is_python)
        put_python_frame(text, &facts.place->python);
    else
        put_native_frame(text, facts.place, facts.name);
}

/* Is it a function of CUDA's driver (cuMemFree)? Only such a call may have come through a function
 * of the runtime; one of libc (free) is shown as it is. */
static bool is_driver_function(const char *api)
{
    return strncmp(api, "cu", 2) == 0 && is_upper(api[2]);
}

/* Names the runtime function that the program called, if the stack shows one, and else the
 * driver's. */
void sc_call_words_put_api(struct sc_text *text, const char *api, const char *runtime_api,
                           uint32_t stack_id)
{
    struct sc_json_lines_stack stack;
    struct facts facts = {.api = ""};
    if (!runtime_api && is_driver_function(api))
        read_stack(stack_id, &stack, &facts);
    const char *called = runtime_api ? runtime_api : facts.api;
    if (called[0] == '\0') {
        sc_text_put(text, api);
        return;
    }
    sc_plain_put(text, called, strlen(called));
    sc_text_format(text, " (%s)", api);
}
