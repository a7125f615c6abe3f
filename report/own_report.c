#include "report/own_report.h"

#include "common/text.h"
#include "report/file.h"
#include "report/version.h"

#include <string.h>

#include "common/poison.h"

/* A run line has 256 KB at most, and any line 1 MB (report.c). */
enum { PIECE = 4096, FIRST_MAX = 256 * 1024, LAST_MAX = 1024 * 1024 };

/* ---- the first line ---- */

/* A file that is read from its beginning, piece by piece. */
struct reader {
    int fd;
    uint64_t offset; /* where the next piece of the file begins */
    size_t at, filled;
    char bytes[PIECE];
};

/* Returns the next character of the first line without taking it; -1: there is none, or the line
 * is longer than any that we write (FIRST_MAX), so that a huge file of somebody else's is not read
 * through. */
static int next_char(struct reader *reader)
{
    if (reader->at == reader->filled) {
        long got = reader->offset < FIRST_MAX
                       ? sc_file_read_at(reader->fd, reader->bytes, PIECE, reader->offset)
                       : 0;
        if (got <= 0)
            return -1;
        reader->offset += (uint64_t)got;
        reader->filled = (size_t)got;
        reader->at = 0;
    }
    return (unsigned char)reader->bytes[reader->at];
}

/* Takes the next character if it is the one wanted. Returns whether it was. */
static bool take_char(struct reader *reader, char wanted)
{
    bool is_it = next_char(reader) == (unsigned char)wanted;
    reader->at += is_it;
    return is_it;
}

/* Takes these characters, one after the other. Returns whether all came. */
static bool take_words(struct reader *reader, const char *words)
{
    while (*words != '\0' && take_char(reader, *words))
        words++;
    return *words == '\0';
}

/* Reads a number at the present character. Returns false if there is no digit. */
static bool take_number(struct reader *reader, uint64_t *number)
{
    unsigned digits = 0;
    *number = 0;
    for (int c = next_char(reader); c >= '0' && c <= '9'; c = next_char(reader)) {
        *number = *number * 10 + (uint64_t)(c - '0');
        reader->at++;
        digits++;
    }
    return digits > 0;
}

/* Takes a JSON string, escapes included. What is within the quotes is appended to `text` (NULL: to
 * nothing), escapes as they are. False: it has a control character, or no end. */
static bool take_string(struct reader *reader, struct sc_text *text)
{
    bool is_escaped = false;
    if (!take_char(reader, '"'))
        return false;
    for (int c = next_char(reader); c >= ' '; c = next_char(reader)) {
        reader->at++;
        if (c == '"' && !is_escaped)
            return true;
        is_escaped = c == '\\' && !is_escaped;
        if (text)
            sc_text_char(text, (char)c);
    }
    return false;
}

/* Takes the rest of an array of strings, after its '['. */
static bool take_strings(struct reader *reader)
{
    if (take_char(reader, ']'))
        return true;
    while (take_string(reader, NULL))
        if (!take_char(reader, ','))
            return take_char(reader, ']');
    return false;
}

/* Takes a string, or the word null. */
static bool take_string_or_null(struct reader *reader)
{
    return next_char(reader) == 'n' ? take_words(reader, "null") : take_string(reader, NULL);
}

/* Takes the member `ledger` if it is there. It names the file in which the processes of a run
 * leave notes, and reports have it only under `safecopy run` with --strict or --format. */
static bool take_roll(struct reader *reader)
{
    return next_char(reader) != 'l' || (take_words(reader, "ledger\":") &&
                                        take_string(reader, NULL) && take_words(reader, ",\""));
}

/* Takes the rest of the line, which must end in '}' and a newline: a line that was cut by a full
 * disk does not, and then the file is no report to go on with or to remove. */
static bool take_rest(struct reader *reader)
{
    int last = -1;
    for (int c = next_char(reader); c >= ' '; c = next_char(reader)) {
        last = c;
        reader->at++;
    }
    return last == '}' && take_char(reader, '\n');
}

/* Is the file's first line a complete run line of ours? Only such a file may be removed or
 * appended to. Then *author is the process that wrote it. The members are taken in the order in
 * which sc_json_lines_run writes them; any other beginning is somebody else's file. */
bool sc_own_report_begins(int fd, struct sc_own_report_author *author)
{
    struct reader reader = {.fd = fd};
    uint64_t schema, pid;
    struct sc_text host = sc_text_in(author->host, sizeof author->host);
    if (!take_words(&reader, SC_REPORT_BEGINNING) || !take_number(&reader, &schema) ||
        !take_words(&reader, ",\"version\":") || !take_string(&reader, NULL) ||
        !take_words(&reader, ",\"command\":[") || !take_strings(&reader) ||
        !take_words(&reader, ",\"pid\":") || !take_number(&reader, &pid) ||
        !take_words(&reader, ",\"started\":") || !take_number(&reader, &author->started) ||
        !take_words(&reader, ",\"host\":") || !take_string(&reader, &host) ||
        !take_words(&reader, ",\"rank\":") || !take_string_or_null(&reader))
        return false;
    author->pid = (int32_t)pid;
    if (host.cut)
        author->host[0] = '\0';
    return take_words(&reader, ",\"") && take_roll(&reader) &&
           take_words(&reader, "driver_version\":") && take_rest(&reader);
}

/* ---- the last line ---- */

/* Finds where the last line begins, reading backwards from the end. False: the file does not end
 * in a newline, or the line is longer than any that we write (LAST_MAX). */
static bool find_last(int fd, uint64_t size, uint64_t *start)
{
    char bytes[PIECE];
    uint64_t end = size - 1; /* all from here on belongs to the last line */
    uint64_t first = end > LAST_MAX ? end - LAST_MAX : 0;
    if (sc_file_read_at(fd, bytes, 1, end) != 1 || bytes[0] != '\n')
        return false;
    while (end > first) {
        size_t part = end - first < PIECE ? (size_t)(end - first) : PIECE;
        if (sc_file_read_at(fd, bytes, part, end - part) != (long)part)
            return false;
        while (part > 0 && bytes[part - 1] != '\n') {
            part--;
            end--;
        }
        if (part > 0)
            break;
    }
    *start = end;
    return end > first || first == 0;
}

/* Does the text begin as one of the report's lines, with a type that there is? */
static bool is_line(const char *line)
{
    static const char *const types[] = {"run\"",      "modules\"", "hazard\"",  "timing\"",
                                        "coverage\"", "cupti\"",   "summary\"", "postmortem\"",
                                        "oom\"",      "memory\""};
    static const char words[] = "{\"type\":\"";
    if (strncmp(line, words, sizeof words - 1) != 0)
        return false;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strncmp(line + sizeof words - 1, types[i], strlen(types[i])) == 0)
            return true;
    return false;
}

/* Is the file's last line a complete line of ours? Else the report was cut, or somebody has added
 * notes to it, and it stays as it is. */
bool sc_own_report_ends(int fd)
{
    struct stat status;
    uint64_t start;
    char line[32] = "", end[2] = "";
    if (sc_file_status_of(fd, &status) != 0 || status.st_size < 2)
        return false;
    uint64_t size = (uint64_t)status.st_size;
    return find_last(fd, size, &start) && sc_file_read_at(fd, end, 2, size - 2) == 2 &&
           end[0] == '}' && sc_file_read_at(fd, line, sizeof line - 1, start) > 0 && is_line(line);
}
