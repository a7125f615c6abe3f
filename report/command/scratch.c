#define _GNU_SOURCE 1
#include "report/command/scratch.h"

#include "report/command/command.h"
#include "report/command/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16 * 1024 };

struct sc_scratch_block {
    struct sc_scratch_block *next;
    size_t used, size;
    _Alignas(max_align_t) unsigned char bytes[];
};

/* Ends the command: nothing is shown wrong or in part for want of memory. */
static _Noreturn void end_without_memory(void)
{
    sc_say("out of memory");
    exit(SC_COMMAND_USAGE);
}

/* Adds a block to cut from, large enough for `least` bytes. */
static void add_block(struct sc_scratch *scratch, size_t least)
{
    size_t size = least > BLOCK ? least : BLOCK;
    struct sc_scratch_block *block = malloc(sizeof *block + size);
    if (!block)
        end_without_memory();
    *block = (struct sc_scratch_block){.next = scratch->blocks, .size = size};
    scratch->blocks = block;
}

/* Takes memory from the current block, or from a new one. */
static void *reserve(struct sc_scratch *scratch, size_t size)
{
    size_t rounded = (size + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
    struct sc_scratch_block *block = scratch->blocks;
    if (!block || block->size - block->used < rounded)
        add_block(scratch, rounded);
    block = scratch->blocks;
    void *taken = block->bytes + block->used;
    block->used += rounded;
    return taken;
}

/* Returns zeroed memory that lives as long as the scratch; never NULL. */
void *sc_scratch_take(struct sc_scratch *scratch, size_t size)
{
    return memset(reserve(scratch, size), 0, size);
}

/* Formats the text into the block. Most texts fit into what is left of it, so that they are
 * formatted once only; a longer one is formatted again into a new block. */
char *sc_scratch_print(struct sc_scratch *scratch, const char *format, ...)
{
    va_list arguments;
    struct sc_scratch_block *block = scratch->blocks;
    size_t room = block ? block->size - block->used : 0;
    char *text = block ? (char *)block->bytes + block->used : NULL;
    va_start(arguments, format);
    int length = vsnprintf(text, room, format, arguments);
    va_end(arguments);
    if (length < 0)
        end_without_memory();
    if ((size_t)length < room)
        return reserve(scratch, (size_t)length + 1);
    text = reserve(scratch, (size_t)length + 1);
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

/* Frees all blocks but the oldest one, which can be used again. That is freed as well if it is
 * larger than usual. */
void sc_scratch_reset(struct sc_scratch *scratch)
{
    while (scratch->blocks && (scratch->blocks->next || scratch->blocks->size > BLOCK)) {
        struct sc_scratch_block *block = scratch->blocks;
        scratch->blocks = block->next;
        free(block);
    }
    if (scratch->blocks)
        scratch->blocks->used = 0;
}

/* Frees all that was taken. */
void sc_scratch_free(struct sc_scratch *scratch)
{
    while (scratch->blocks) {
        struct sc_scratch_block *block = scratch->blocks;
        scratch->blocks = block->next;
        free(block);
    }
}
