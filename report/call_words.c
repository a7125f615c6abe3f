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

/* One part of a nested C++ name at *at: an identifier with its length in front, or a constructor or
 * destructor of the part before. */
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

/* The plain C++ names (_ZN5BatchD1Ev is Batch::~Batch) become readable without the parameters.
 * Templates and all the rest stay mangled here: `safecopy report` reads them, and __cxa_demangle
 * allocates. */
static void put_symbol(struct sc_text *text, const char *symbol)
{
    size_t before = text->used;
    bool is_nested = strncmp(symbol, "_ZN", 3) == 0;
    const char *at = symbol + (is_nested ? 3 : 2);
    SC_TEXT(class_name, 256);
    bool good = strncmp(symbol, "_Z", 2) == 0;
    if (is_nested && *at == 'K')
        at++;
    for (bool first = true; good && (first || (is_nested && *at != 'E')); first = false) {
        sc_text_put(text, first ? "" : "::");
        good = put_part(text, &at, &class_name);
    }
    if (good && (is_nested || *at != 'I'))
        return;
    sc_text_rewind(text, before);
    sc_text_put(text, symbol);
}

static bool read_symbol(const struct sc_report_frame *frame, char *name, size_t size)
{
    int memory = frame->symbol ? sc_file_open_memory() : -1;
    bool is_read = memory >= 0 && sc_file_read_string(memory, frame->symbol, name, size);
    sc_file_close(memory);
    return is_read;
}

static bool find_symbol(const struct sc_report_frame *frame, char *name, size_t size)
{
    return frame->symbol ? read_symbol(frame, name, size) : sc_symtab_find(frame, name, size);
}

/* "load_batch (train.py:12)" */
static void put_python_frame(struct sc_text *text, const struct sc_python_frame *frame)
{
    sc_plain_put(text, frame->function, frame->function_bytes);
    sc_text_put(text, " (");
    sc_plain_put(text, frame->file, frame->file_bytes);
    if (frame->line > 0)
        sc_text_format(text, ":%lu", (uint64_t)frame->line);
    sc_text_char(text, ')');
}

/* "load_batch (/opt/app/train+0x1234)" */
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

/* What the stack of a call tells. */
struct told {
    const struct sc_report_frame *place; /* NULL: no frame tells */
    char name[NAME_SIZE];                /* of the place's function; "": not known */
    char api[API_SIZE];                  /* the function of the runtime; "": none */
};

static bool is_upper(char character)
{
    return character >= 'A' && character <= 'Z';
}

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

/* Is the frame CUDA's runtime's, or of what else every program runs on? A program has the runtime
 * linked in, or calls a library. `name` becomes the function's, "" where it is not known. */
static bool is_runtimes(const struct sc_report_frame *frame, enum sc_frame_kind kind, char *name)
{
    bool is_named = kind == SC_FRAME_USER ? find_symbol(frame, name, NAME_SIZE)
                                          : read_symbol(frame, name, NAME_SIZE);
    if (!is_named)
        name[0] = '\0';
    return kind == SC_FRAME_RUNTIME ||
           (is_named && sc_frame_kind_of_function(name) == SC_FRAME_RUNTIME);
}

/* From the driver's function outwards: the runtime's that the program called, then the innermost
 * frame that is the user's. Names are looked up up to there, and no further. */
static void read_native_frames(const struct sc_json_lines_stack *stack, struct told *told)
{
    bool is_within_runtime = true;
    for (unsigned i = 0; i < stack->count && !stack->frames[i].is_python; i++) {
        const struct sc_report_frame *frame = &stack->frames[i];
        enum sc_frame_kind kind =
            frame->module ? sc_frame_kind_of_module(frame->module) : SC_FRAME_USER;
        is_within_runtime = is_within_runtime && kind != SC_FRAME_LIBRARY;
        if (kind == SC_FRAME_LIBRARY || (kind == SC_FRAME_RUNTIME && !is_within_runtime))
            continue;
        if (!is_runtimes(frame, kind, told->name)) {
            told->place = frame;
            return;
        }
        if (is_within_runtime) {
            if (strncmp(told->name, "cuda", 4) == 0 && is_upper(told->name[4]) &&
                strlen(told->name) < API_SIZE)
                strcpy(told->api, told->name);
        }
    }
}

/* A Python program's own line tells more than a frame of what it calls. */
static void read_stack(uint32_t stack_id, struct sc_json_lines_stack *stack, struct told *told)
{
    told->place = NULL;
    told->name[0] = told->api[0] = '\0';
    sc_json_lines_name_stack(stack_id, stack);
    read_native_frames(stack, told);
    const struct sc_report_frame *python = find_python(stack);
    if (python)
        told->place = python;
    if (told->place || stack->count == 0)
        return;
    told->place = &stack->frames[0];
    if (!find_symbol(told->place, told->name, sizeof told->name))
        told->name[0] = '\0';
}

void sc_call_words_put_place(struct sc_text *text, const char *preposition, uint32_t stack_id)
{
    struct sc_json_lines_stack stack;
    struct told told;
    read_stack(stack_id, &stack, &told);
    if (!told.place)
        return;
    sc_text_put(text, preposition);
    if (told.place->is_python)
        put_python_frame(text, &told.place->python);
    else
        put_native_frame(text, told.place, told.name);
}

/* What the driver itself does by the name of a function of libc's was called by that name. */
static bool is_drivers(const char *api)
{
    return strncmp(api, "cu", 2) == 0 && is_upper(api[2]);
}

void sc_call_words_put_api(struct sc_text *text, const char *api, const char *runtime_api,
                           uint32_t stack_id)
{
    struct sc_json_lines_stack stack;
    struct told told = {.api = ""};
    if (!runtime_api && is_drivers(api))
        read_stack(stack_id, &stack, &told);
    const char *called = runtime_api ? runtime_api : told.api;
    if (called[0] == '\0') {
        sc_text_put(text, api);
        return;
    }
    sc_plain_put(text, called, strlen(called));
    sc_text_format(text, " (%s)", api);
}
