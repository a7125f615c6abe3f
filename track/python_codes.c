#include "track/python_codes.h"
#include "common/python_lines.h"

#include "common/depot.h"

#include "common/poison.h"

/* A word stands in a stored stack for a frame of Python: the mark, the id of the code object, and
 * the number of the instruction. The mark makes it an address that no processor accepts. */
enum {
    MARK = 0xC0D,
    MARK_SHIFT = 52,
    ID_SHIFT = 24,
    ID_BITS = MARK_SHIFT - ID_SHIFT,
    INSTRUCTION_BYTES = 2,
    INSTRUCTION_MAX = (1 << ID_SHIFT) - 1,
    CHUNKS_MAX = 32,
    KEY_WORDS = sizeof(struct sc_python_identity) / sizeof(uint64_t),
};

_Static_assert((uint64_t)CHUNKS_MAX *SC_DEPOT_CHUNK_BYTES / 8 < 1u << ID_BITS, "ids fit in words");

static struct sc_depot codes;

/* Returns the copied code object with this id. */
static struct sc_python_code *code_at(uint32_t id)
{
    return (struct sc_python_code *)(void *)sc_depot_at(&codes, id)->words;
}

/* Returns the id of a code object (CPython's record of a compiled function) whose names were copied
 * before; 0: not yet. */
uint32_t sc_python_codes_find(const struct sc_python_identity *identity)
{
    return sc_depot_find(&codes, identity, KEY_WORDS);
}

/* Reserves room for the names and the line table of a code object, which the caller copies and then
 * publishes. NULL: no room. */
struct sc_python_code *sc_python_codes_reserve(size_t bytes, uint32_t *id)
{
    size_t size_bytes = sizeof(struct sc_python_code) + bytes;
    *id = sc_depot_reserve(&codes, (size_bytes + 7) / 8, CHUNKS_MAX);
    return *id ? code_at(*id) : NULL;
}

/* Makes the filled copy of a code object known. If another thread has published an equal one
 * meanwhile, returns that one's id. */
uint32_t sc_python_codes_publish(uint32_t id)
{
    return sc_depot_publish(&codes, id, KEY_WORDS);
}

/* Packs a code object's id and an instruction into the word that stands for the frame in a stack.
 * An offset that is too large counts as the largest. */
void *sc_python_codes_word(uint32_t id, uint32_t offset)
{
    uint64_t instruction = offset / INSTRUCTION_BYTES;
    if (instruction > INSTRUCTION_MAX)
        instruction = INSTRUCTION_MAX;
    return (void *)((uint64_t)MARK << MARK_SHIFT | (uint64_t)id << ID_SHIFT | instruction);
}

/* Does the word of a stack stand for a frame of Python? No return address has these upper bits. */
static bool is_word(const void *word)
{
    return (uint64_t)word >> MARK_SHIFT == MARK;
}

/* Decodes the word of a Python frame for a report: names the function, and finds the line of
 * source. Returns false if the word is a return address. */
bool sc_python_codes_frame(const void *word, struct sc_python_frame *frame)
{
    uint64_t bits = (uint64_t)word;
    if (!is_word(word))
        return false;
    const struct sc_python_code *code = code_at(bits >> ID_SHIFT & ((1u << ID_BITS) - 1));
    const char *function = code->bytes + code->file_bytes;
    struct sc_python_lines lines = {
        .format = code->format,
        .first_line = (int32_t)code->identity.first_line,
        .table = (const uint8_t *)function + code->function_bytes,
        .table_bytes = code->table_bytes,
    };
    *frame = (struct sc_python_frame){
        .file = code->bytes,
        .function = function,
        .file_bytes = code->file_bytes,
        .function_bytes = code->function_bytes,
        .line =
            sc_python_lines_find(&lines, (uint32_t)(bits & INSTRUCTION_MAX) * INSTRUCTION_BYTES),
    };
    return true;
}
