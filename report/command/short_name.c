#define _GNU_SOURCE 1
#include "report/command/short_name.h"

#include <stdbool.h>
#include <string.h>

enum {
    NAME_MAX_LENGTH = 100,
    ARGUMENTS_MAX = 24, /* as long as "(anonymous namespace)" and a little more */
    DEPTH_MAX = 256,
};

static const char openers[] = "(<[{", closers[] = ")>]}";

/* Brackets that are open, innermost last. */
struct open {
    char brackets[DEPTH_MAX];
    size_t depth;
};

/* Returns the length of "operator()", "operator<<" or the like at `at`, whose brackets are part of
 * a name; 0 if there is none. */
static size_t operator_length(const char *at)
{
    static const char word[] = "operator";
    size_t length = sizeof word - 1;
    if (strncmp(at, word, length) != 0)
        return 0;
    if (strncmp(at + length, "()", 2) == 0 || strncmp(at + length, "[]", 2) == 0)
        return length + 2;
    return length + strspn(at + length, "<>=-!");
}

/* Closes the innermost open bracket that is `bracket`, and all those within it. */
static void close_up_to(struct open *open, char bracket)
{
    while (open->depth > 0 && open->brackets[--open->depth] != bracket)
        ;
}

static bool is_one_of(const char *characters, char character)
{
    return character != '\0' && strchr(characters, character);
}

/* Goes over a character, and notes which brackets are open. Within parentheses '<' and '>' may be
 * comparisons: '>' closes nothing there, and what '<' has opened ends with them. */
static void pass(struct open *open, char character)
{
    if (is_one_of(openers, character)) {
        if (open->depth < DEPTH_MAX)
            open->brackets[open->depth++] = character;
    } else if (character == '>') {
        if (open->depth > 0 && open->brackets[open->depth - 1] == '<')
            open->depth--;
    } else if (is_one_of(closers, character)) {
        close_up_to(open, openers[strchr(closers, character) - closers]);
    }
}

/* Returns the length of a name's next part: one character, an operator, or brackets with all
 * between. */
static size_t part_length(const char *at)
{
    struct open open = {.depth = 0};
    size_t length = 0;
    do {
        size_t passed = operator_length(at + length);
        bool is_arrow = strncmp(at + length, "->", 2) == 0;
        if (passed == 0 && !is_arrow)
            pass(&open, at[length]);
        length += passed > 0 ? passed : is_arrow ? 2 : 1;
    } while (open.depth > 0 && at[length] != '\0');
    return length;
}

/* Returns a long C++ name without its template arguments. */
const char *sc_short_name(struct sc_scratch *scratch, const char *name)
{
    static const char omitted[] = "...";
    size_t size = strlen(name) + 1;
    if (size - 1 <= NAME_MAX_LENGTH)
        return name;
    char *copy = sc_scratch_take(scratch, size), *end = copy;
    for (size_t length; *name != '\0'; name += length) {
        length = part_length(name);
        bool are_arguments = is_one_of(openers, *name) && is_one_of(closers, name[length - 1]);
        if (!are_arguments || length <= ARGUMENTS_MAX) {
            end = mempcpy(end, name, length);
            continue;
        }
        *end++ = *name;
        end = stpcpy(end, omitted);
        *end++ = name[length - 1];
    }
    return copy;
}
