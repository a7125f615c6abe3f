#include "interpose/base/python_walk.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "common/peek.h"
#include "interpose/base/python_layout.h"
#include "track/python_codes.h"

#include "common/poison.h"

enum {
    FILE_CHARACTERS_MAX = 4096,
    FUNCTION_CHARACTERS_MAX = 1024,
    TABLE_BYTES_MAX = 512 << 10,
    CHARACTER_BYTES_MAX = 4, /* in UTF-8 */
    TAGS = 7,                /* low bits of a reference, which are no part of the address */
    FIRST_SHIM = 3,          /* frame marks (owners) from here on are of the loop's own frames */
    STEPS_MAX = 4096,        /* frames of one walk for the key */
};

/* Reads 8 bytes out of a copy of an interpreter's object, at an offset that need not be aligned. */
static uint64_t word_at(const char *bytes, size_t offset)
{
    uint64_t word;
    memcpy(&word, bytes + offset, sizeof word);
    return word;
}

/* Reads an int out of a copy of an interpreter's object, at an offset that need not be aligned. */
static int32_t int_at(const char *bytes, size_t offset)
{
    int32_t number;
    memcpy(&number, bytes + offset, sizeof number);
    return number;
}

/* Reads a word of the interpreter's memory, which may be gone; 0 then. */
static uint64_t peek_word(uintptr_t address)
{
    uint64_t word;
    return sc_peek(&word, address, sizeof word) ? word : 0;
}

/* ---- strings ---- */

/* A string whose characters lie in one piece (compact), as those of names do. */
struct string {
    uintptr_t data;
    uint64_t length;
    uint32_t character_bytes; /* 0: it cannot be read */
};

/* Finds the characters of a Python string: after a short head if all are ASCII, else after a longer
 * one. character_bytes stays 0 for a string that cannot be read, or whose characters lie elsewhere
 * (not compact), as those of names and paths never do. */
static struct string read_string(const struct sc_python_layout *layout, uintptr_t address,
                                 uint64_t length_max)
{
    enum { COMPACT = 8, ASCII = 16 };
    uint64_t length = peek_word(address + layout->string_length);
    struct string string = {.length = length < length_max ? length : length_max};
    uint32_t state;
    if (!sc_peek(&state, address + layout->string_state, sizeof state))
        return string;
    state >>= layout->state_shift;
    if (!(state & COMPACT))
        return string;
    string.character_bytes = state & 7;
    string.data = address + (state & ASCII ? layout->string_ascii : layout->string_compact);
    return string;
}

/* Returns the code point of a character of a Python string, which has 1, 2 or 4 bytes. */
static uint32_t character_at(const char *bytes, uint32_t character_bytes)
{
    uint32_t code = 0;
    memcpy(&code, bytes, character_bytes); /* little-endian */
    return code;
}

/* Writes the character as UTF-8, and returns the end. Characters from U+DC80 on stand for single
 * bytes that are no UTF-8 (PEP 383). */
static char *put_character(char *at, uint32_t code)
{
    if (code < 0x80 || (code >= 0xDC80 && code <= 0xDCFF)) {
        *at++ = (char)code;
        return at;
    }
    if (code >= 0x10000) {
        *at++ = (char)(0xF0 | (code >> 18 & 7));
        *at++ = (char)(0x80 | (code >> 12 & 63));
    } else if (code >= 0x800) {
        *at++ = (char)(0xE0 | code >> 12);
    }
    *at++ = (char)(code >= 0x800 ? 0x80 | (code >> 6 & 63) : 0xC0 | code >> 6);
    *at++ = (char)(0x80 | (code & 63));
    return at;
}

/* Writes the string as UTF-8, as far as it can be read. Returns the end of what was written. A
 * width of other than 1, 2 or 4 bytes is no string's. */
static char *copy_string(char *at, const struct string *string)
{
    char piece[256];
    uint32_t width = string->character_bytes;
    if (width != 1 && width != 2 && width != 4)
        return at;
    for (uint64_t done = 0; done < string->length;) {
        uint64_t count = sizeof piece / width;
        if (count > string->length - done)
            count = string->length - done;
        if (!sc_peek(piece, string->data + done * width, count * width))
            return at;
        for (uint64_t i = 0; i < count; i++)
            at = put_character(at, character_at(piece + i * width, width));
        done += count;
    }
    return at;
}

/* ---- codes ---- */

/* Returns what distinguishes this code object from a later one at the same address. */
static struct sc_python_identity identify_code(const struct sc_python_layout *layout,
                                               uintptr_t code, const char *bytes)
{
    uint64_t table = word_at(bytes, layout->code_table);
    return (struct sc_python_identity){
        .code = code,
        .file = word_at(bytes, layout->code_file),
        .function = word_at(bytes, layout->code_function),
        .table = table,
        .first_line = (uint32_t)int_at(bytes, layout->code_first_line),
        .table_bytes = peek_word(table + layout->bytes_size),
        .table_head = peek_word(table + layout->bytes_data),
    };
}

/* Copies the file, the function's name and the line table of a code object (a compiled Python
 * function) into the library's record, since the interpreter may free it before the report is
 * written. A table that cannot be read is left out. */
static void fill(const struct sc_python_layout *layout, struct sc_python_code *code,
                 const struct string *file, const struct string *function, uint32_t table_bytes)
{
    char *function_at = copy_string(code->bytes, file);
    char *table_at = copy_string(function_at, function);
    code->file_bytes = (uint32_t)(function_at - code->bytes);
    code->function_bytes = (uint32_t)(table_at - function_at);
    bool has_table = sc_peek(table_at, code->identity.table + layout->bytes_data, table_bytes);
    code->table_bytes = has_table ? table_bytes : 0;
    code->format = layout->format;
}

/* Makes the library's record of a code object that occurs in a stack for the first time. Very long
 * names and line tables are cut off. Returns the record's id; 0: there is no memory. */
static uint32_t copy_code(const struct sc_python_layout *layout,
                          const struct sc_python_identity *identity)
{
    struct string file = read_string(layout, identity->file, FILE_CHARACTERS_MAX);
    struct string function = read_string(layout, identity->function, FUNCTION_CHARACTERS_MAX);
    uint64_t table_bytes = identity->table_bytes;
    uint32_t id;
    if (table_bytes > TABLE_BYTES_MAX)
        table_bytes = TABLE_BYTES_MAX;
    struct sc_python_code *code = sc_python_codes_reserve(
        CHARACTER_BYTES_MAX * (file.length + function.length) + table_bytes, &id);
    if (!code)
        return 0;
    code->identity = *identity;
    fill(layout, code, &file, &function, (uint32_t)table_bytes);
    return sc_python_codes_publish(id);
}

/* Is it a code object of the interpreter (a compiled function)? The very first is recognised by the
 * name of its type, and its type is noted, by which all others are recognised. Anything else shows
 * that the offsets are wrong, or the frame is gone. */
static bool recognise_code(struct sc_python_layout *layout, const char *bytes)
{
    char name[sizeof "code"];
    uintptr_t known = atomic_load_explicit(&layout->code_type, memory_order_relaxed);
    uintptr_t type = word_at(bytes, layout->object_type);
    if (known)
        return type == known;
    uintptr_t name_at = peek_word(type + layout->type_name);
    if (!sc_peek(name, name_at, sizeof name) || memcmp(name, "code", sizeof name) != 0)
        return false;
    atomic_store_explicit(&layout->code_type, type, memory_order_release);
    return true;
}

/* ---- frames ---- */

/* Returns where the instructions begin that the frame runs. Threads without a GIL may run copies of
 * a code object; copy 0 is the code object's own. */
static uintptr_t first_instruction(const struct sc_python_layout *layout, uintptr_t code,
                                   const char *code_bytes, const char *frame)
{
    enum { COPIES_HEAD_BYTES = 8 };
    int32_t copy = layout->frame_copy ? int_at(frame, layout->frame_copy) : 0;
    if (copy <= 0 || !layout->code_copies)
        return code + layout->code_instructions;
    return peek_word(word_at(code_bytes, layout->code_copies) + COPIES_HEAD_BYTES +
                     (uint64_t)copy * sizeof(uint64_t));
}

/* Returns the offset of the frame's instruction from the first one, in bytes; 0 for a frame that
 * has not begun, which may be just before the first. */
static uint32_t offset_of_instruction(const struct sc_python_layout *layout, uintptr_t code,
                                      const char *code_bytes, const char *frame)
{
    if (layout->instruction == SC_PYTHON_INSTRUCTION_POINTER) {
        uintptr_t at = word_at(frame, layout->frame_instruction);
        uintptr_t first = first_instruction(layout, code, code_bytes, frame);
        return at < first || at - first > UINT32_MAX ? 0 : (uint32_t)(at - first);
    }
    int32_t last = int_at(frame, layout->frame_instruction);
    if (last < 0)
        return 0;
    return layout->instruction == SC_PYTHON_INSTRUCTION_UNITS ? 2 * (uint32_t)last : (uint32_t)last;
}

/* Reads a Python frame. *word becomes the word that stands for it in a stack, or NULL if there is
 * no memory for its function's record. False: it refers to no code object, so the walk must end;
 * such failures are counted, until the offsets count as wrong. */
static bool read_frame(struct sc_python_layout *layout, const char *frame, void **word)
{
    char bytes[SC_PYTHON_CODE_BYTES];
    uintptr_t code = word_at(frame, layout->frame_code) & ~(uintptr_t)TAGS;
    if (!sc_peek(bytes, code, sizeof bytes) || !recognise_code(layout, bytes)) {
        atomic_fetch_add_explicit(&layout->failures, 1, memory_order_relaxed);
        return false;
    }
    struct sc_python_identity identity = identify_code(layout, code, bytes);
    uint32_t id = sc_python_codes_find(&identity);
    if (!id)
        id = copy_code(layout, &identity);
    uint32_t offset = offset_of_instruction(layout, code, bytes, frame);
    *word = id ? sc_python_codes_word(id, offset) : NULL;
    return true;
}

/* Is the frame one that the interpreter's loop inserts for itself (a shim, from 3.12 on)? A native
 * frame of the loop begins after it, and no Python function belongs to it. */
static bool is_shim(const struct sc_python_layout *layout, const char *frame)
{
    return layout->ends == SC_PYTHON_ENDS_AT_SHIM && frame[layout->frame_mark] >= FIRST_SHIM;
}

/* Is the frame the last one that its native frame of the interpreter's loop runs? Up to 3.10 each
 * frame is; in 3.11 a byte of the frame says so. From 3.12 on a shim, a frame of the loop's own,
 * follows instead. */
static bool is_entry(const struct sc_python_layout *layout, const char *frame)
{
    return layout->ends == SC_PYTHON_ENDS_AT_EACH ||
           (layout->ends == SC_PYTHON_ENDS_AT_ENTRY && frame[layout->frame_mark]);
}

/* Returns the address of the Python frame that the thread runs; 0: none. Some versions keep it in
 * the thread's state, others in an object that the state refers to (cframe). */
static uintptr_t innermost_frame(const struct sc_python_layout *layout, uintptr_t state)
{
    if (!layout->thread_cframe)
        return peek_word(state + layout->thread_frame);
    uintptr_t cframe = peek_word(state + layout->thread_cframe);
    return cframe ? peek_word(cframe + layout->cframe_frame) : 0;
}

/* Lists the Python frames of a thread, innermost first: a word for each frame, and NULL after the
 * last frame of each native frame of the interpreter's loop. Shims, frames of the loop's own, have
 * no word. The walk ends early at a frame that cannot be read. */
unsigned sc_python_walk_words(struct sc_python_layout *layout, uintptr_t state, void **words,
                              unsigned frames_max)
{
    char frame[SC_PYTHON_FRAME_BYTES];
    uintptr_t at = innermost_frame(layout, state);
    unsigned count = 0, max = 2 * frames_max;
    while (at && frames_max > 0 && count < max && sc_peek(frame, at, sizeof frame)) {
        void *word = NULL;
        bool is_own = is_shim(layout, frame);
        if (!is_own && !read_frame(layout, frame, &word))
            break;
        if (word)
            words[count++] = word;
        if ((is_own || is_entry(layout, frame)) && count < max)
            words[count++] = NULL;
        frames_max -= !is_own;
        at = word_at(frame, layout->frame_previous);
    }
    return count;
}

/* ---- the key ---- */

/* For functions that read the interpreter's memory directly, which no sanitizer is to check. */
#define UNWATCHED static inline __attribute__((always_inline, no_sanitize("address", "thread")))

/* The aligned word that contains the byte at the address. */
UNWATCHED uint64_t load(uintptr_t address)
{
    return *(const volatile uint64_t *)(address & ~(uintptr_t)7);
}

/* Adds a value to a hash, so that the order of the values matters. */
UNWATCHED uint64_t mix_into(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}

/* Returns a number for the frame's function and present instruction, by which a stack is
 * recognised. It has in it what tells a function from a later one at the same address. A sum of
 * products with odd constants, so that no load waits for another one's multiplication. */
UNWATCHED uint64_t digest_frame(const struct sc_python_layout *layout, uintptr_t frame)
{
    uintptr_t code = load(frame + layout->frame_code) & ~(uintptr_t)TAGS;
    uintptr_t table = load(code + layout->code_table);
    return code * 0xD6E8FEB86659FD93u +
           load(frame + layout->frame_instruction) * 0xA0761D6478BD642Fu +
           load(code + layout->code_file) * 0xE7037ED1A0B428DBu +
           load(code + layout->code_first_line) * 0x8EBC6AF09C88C6E3u +
           load(code + layout->code_function) * 0x589965CC75374CC3u + table * 0x1D8E4E27C47D124Fu +
           load(table + layout->bytes_size) * 0xEB44ACCAB455D165u +
           load(table + layout->bytes_data) * 0x9C6E6877736C46E3u;
}

/* Reads the byte of a frame that tells who owns it. */
UNWATCHED uint8_t load_mark(const struct sc_python_layout *layout, uintptr_t frame)
{
    return *(const volatile uint8_t *)(frame + layout->frame_mark);
}

/* Returns a hash of the thread's Python frames, each with its present instruction. Reads them
 * directly, as they are the calling thread's. Shims (entry frames that the interpreter inserts) do
 * not count towards `frames_max`. */
__attribute__((no_sanitize("address", "thread"))) uint64_t
sc_python_walk_key(const struct sc_python_layout *layout, uintptr_t state, unsigned frames_max)
{
    uintptr_t cframe = layout->thread_cframe ? load(state + layout->thread_cframe) : 0;
    uintptr_t at = cframe                  ? load(cframe + layout->cframe_frame)
                   : layout->thread_cframe ? 0
                                           : load(state + layout->thread_frame);
    bool has_shims = layout->ends == SC_PYTHON_ENDS_AT_SHIM;
    uint64_t hash = 1;
    for (unsigned steps = 0; at && frames_max > 0 && steps < STEPS_MAX; steps++) {
        bool is_shim = has_shims && load_mark(layout, at) >= FIRST_SHIM;
        hash = mix_into(hash, is_shim ? 1 : digest_frame(layout, at));
        frames_max -= !is_shim;
        at = load(at + layout->frame_previous);
    }
    return hash;
}
