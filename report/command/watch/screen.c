#define _GNU_SOURCE 1
#include "report/command/watch/screen.h"

#include "report/command/fields.h"
#include "report/command/say.h"
#include "report/command/shown_hazards.h"
#include "report/command/shown_memory.h"
#include "report/command/watch/watch_report.h"
#include "report/plain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NUMBER "%" JSON_INTEGER_FORMAT
#define PLAIN(text) sc_say_plain(text)

enum {
    COLUMNS = 5,
    ROWS_USUAL = 24,
    COLUMNS_USUAL = 80,
    NEWEST = COLUMNS - 1,
    NEWEST_MIN = 12,
    LINES_AROUND = 9
};

static const char *const heads[COLUMNS] = {"process", "state", "hazards", "held", "newest"};

struct row {
    const char *cells[COLUMNS];
    const struct sc_watch_report *report;
};

struct rows {
    struct row *all;
    size_t count;
    size_t widths[COLUMNS];
    size_t columns; /* that are shown */
};

/* ---- words ---- */

/* Returns how the process is, or has ended. */
const char *sc_screen_end(const struct sc_watch_report *report, struct sc_scratch *scratch)
{
    const struct sc_watched *shown = &report->shown;
    if (!shown->run)
        return "?";
    if (shown->has_ended && shown->has_status)
        return sc_scratch_print(scratch, "status " NUMBER, shown->exit_status);
    if (shown->has_ended)
        return "ended";
    return report->is_dead ? "died" : shown->has_lost ? "context lost" : "runs";
}

/* Returns how much memory the process holds; "" if the report does not say. */
static const char *memory_of(const struct sc_watched *shown, struct sc_scratch *scratch)
{
    if (!shown->knows_memory)
        return "";
    const char *device = sc_shown_memory_size(scratch, shown->device_bytes);
    if (shown->host_bytes == 0)
        return device;
    return sc_scratch_print(scratch, "%s + %s page-locked", device,
                            sc_shown_memory_size(scratch, shown->host_bytes));
}

/* ---- sums ---- */

struct sums {
    struct sc_watched all; /* its tallies */
    size_t running, ended, died;
    uint64_t device_bytes;
};

/* Adds a process's hazards by code to those of all. */
static void add_tallies(struct sc_watched *all, const struct sc_watched *one)
{
    for (size_t i = 0; i < one->tally_count; i++) {
        size_t at = 0;
        while (at < all->tally_count && strcmp(all->tallies[at].code, one->tallies[i].code) != 0)
            at++;
        if (at == all->tally_count) {
            struct sc_watch_tally *more = realloc(all->tallies, (at + 1) * sizeof *more);
            if (!more)
                return;
            all->tallies = more;
            all->tallies[all->tally_count++] = one->tallies[i];
            continue;
        }
        json_int_t *sum = &all->tallies[at].count;
        if (__builtin_add_overflow(*sum, sc_watched_sum(&one->tallies[i]), sum))
            *sum = INT64_MAX;
    }
}

/* Adds a process to the sums of the headline. */
static void add_report(struct sums *sums, const struct sc_watch_report *report)
{
    const struct sc_watched *shown = &report->shown;
    if (!shown->run)
        return;
    bool is_dead = report->is_dead && !shown->has_ended;
    sums->ended += shown->has_ended;
    sums->died += is_dead;
    sums->running += !shown->has_ended && !is_dead;
    if (!shown->has_ended && !is_dead)
        sc_shown_memory_add(&sums->device_bytes, shown->device_bytes);
    add_tallies(&sums->all, shown);
}

/* Returns the sums of all processes in one line. */
static const char *words_of_sums(struct sums *sums, struct sc_scratch *scratch)
{
    size_t count = sums->running + sums->ended + sums->died;
    json_int_t hazards = sc_watched_hazards(&sums->all);
    const char *words = sc_scratch_print(scratch, "%zu process%s: %zu run, %zu ended", count,
                                         count == 1 ? "" : "es", sums->running, sums->ended);
    if (sums->died > 0)
        words = sc_scratch_print(scratch, "%s, %zu died", words, sums->died);
    words = sc_scratch_print(scratch, "%s; " NUMBER " hazard%s", words, hazards,
                             hazards == 1 ? "" : "s");
    if (hazards > 0)
        words = sc_scratch_print(scratch, "%s: %s", words, sc_watched_codes(&sums->all, scratch));
    if (sums->device_bytes > 0)
        words = sc_scratch_print(scratch, "%s; %s held", words,
                                 sc_shown_memory_size(scratch, sums->device_bytes));
    return words;
}

/* Returns the line above the table: all processes together. */
const char *sc_screen_headline(const struct sc_follow *follow, struct sc_scratch *scratch)
{
    struct sums sums = {0};
    for (const struct sc_followed *file = follow->first; file; file = file->next)
        add_report(&sums, file->report);
    const char *words = words_of_sums(&sums, scratch);
    free(sums.all.tallies);
    return words;
}

/* ---- the table ---- */

/* Returns the report's rank as a number; -1: none. */
static long rank_of(const struct sc_watch_report *report)
{
    const char *rank = sc_field_string(report->shown.run, "rank", NULL);
    return rank ? strtol(rank, NULL, 10) : -1;
}

/* Compares two reports for qsort: those with the newest hazards come first, for where not all are
 * shown. */
static int by_news(const void *a, const void *b)
{
    const struct row *left = a, *right = b;
    uint64_t orders[] = {left->report->hazard_order, right->report->hazard_order};
    long ranks[] = {rank_of(left->report), rank_of(right->report)};
    if (orders[0] != orders[1])
        return orders[0] > orders[1] ? -1 : 1;
    return ranks[0] < ranks[1] ? -1 : ranks[0] > ranks[1];
}

/* Compares two reports for qsort: by rank, and those without one by their name. */
static int by_rank(const void *a, const void *b)
{
    const struct row *left = a, *right = b;
    long ranks[] = {rank_of(left->report), rank_of(right->report)};
    if (ranks[0] != ranks[1])
        return ranks[0] < ranks[1] ? -1 : 1;
    return strcmp(left->cells[0], right->cells[0]);
}

/* Fills the row of a process. */
static void fill(struct row *row, struct sc_scratch *scratch)
{
    const struct sc_watch_report *report = row->report;
    const struct sc_watched *shown = &report->shown;
    const char *codes = sc_watched_codes(shown, scratch);
    row->cells[0] = PLAIN(sc_watched_name(shown, scratch));
    row->cells[1] = sc_screen_end(report, scratch);
    row->cells[2] = codes[0] != '\0' ? PLAIN(codes) : "0";
    row->cells[3] = memory_of(shown, scratch);
    row->cells[NEWEST] = shown->newest ? shown->newest : "";
}

/* Returns how many columns the text takes. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += (*text & 0xc0) != 0x80; /* no continuation of a character of UTF-8 */
    return width;
}

/* Finds how wide each column has to be. */
static void measure(struct rows *rows)
{
    for (size_t column = 0; column < COLUMNS; column++) {
        rows->widths[column] = strlen(heads[column]);
        for (size_t i = 0; i < rows->count; i++) {
            size_t width = width_of(rows->all[i].cells[column]);
            rows->widths[column] = width > rows->widths[column] ? width : rows->widths[column];
        }
    }
}

/* Makes the rows of at most `most` reports. */
static struct rows make_rows(const struct sc_follow *follow, struct sc_scratch *scratch,
                             size_t most)
{
    struct rows rows = {.columns = COLUMNS,
                        .all = sc_scratch_take(scratch, (follow->count + 1) * sizeof *rows.all)};
    for (const struct sc_followed *file = follow->first; file; file = file->next)
        if (file->report->shown.run)
            rows.all[rows.count++].report = file->report;
    if (rows.count > most) {
        qsort(rows.all, rows.count, sizeof *rows.all, by_news);
        rows.count = most;
    }
    for (size_t i = 0; i < rows.count; i++)
        fill(&rows.all[i], scratch);
    qsort(rows.all, rows.count, sizeof *rows.all, by_rank);
    measure(&rows);
    return rows;
}

/* Returns a row of the table as a line, without blanks at its end. */
static const char *line_of(const struct rows *rows, const char *const *cells,
                           struct sc_scratch *scratch)
{
    char *line = sc_scratch_print(scratch, "%s", "");
    for (size_t column = 0; column < rows->columns; column++) {
        size_t blanks = rows->widths[column] - width_of(cells[column]);
        line = sc_scratch_print(scratch, "%s%s%s%*s", line, column > 0 ? "  " : "", cells[column],
                                column < NEWEST ? (int)blanks : 0, "");
    }
    for (size_t length = strlen(line); length > 0 && line[length - 1] == ' '; length--)
        line[length - 1] = '\0';
    return line;
}

/* Leaves out the column for the newest hazard if the terminal has too little room for it. The
 * newest of all is shown below the table in any case. */
static void fit(struct rows *rows, size_t width)
{
    size_t before = 0;
    for (size_t column = 0; column < NEWEST; column++)
        before += rows->widths[column] + strlen("  ");
    if (before + NEWEST_MIN > width)
        rows->columns = NEWEST;
}

/* Writes a line cut to the width, between characters. */
static void put_cut(FILE *out, const char *line, size_t width)
{
    const char *end = line;
    for (size_t columns = 0; *end != '\0'; end++) {
        columns += (*end & 0xc0) != 0x80;
        if (columns > width)
            break;
    }
    fwrite(line, 1, (size_t)(end - line), out);
}

/* ---- the terminal ---- */

static bool is_open;

/* Opens the terminal's other screen, without cursor and without lines that go on in the next. */
void sc_screen_open(void)
{
    static bool is_registered;
    if (!is_registered)
        is_registered = atexit(sc_screen_close) == 0;
    is_open = true;
    fputs("\033[?1049h\033[?25l\033[?7l", stdout);
    fflush(stdout);
}

/* Gives the terminal back as it was before sc_screen_open. */
void sc_screen_close(void)
{
    if (is_open)
        fputs("\033[?7h\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    is_open = false;
}

/* Writes a line, cut to the screen, and clears what stood behind it. */
static void put_line(const char *line, size_t width)
{
    put_cut(stdout, line, width);
    fputs("\033[K\n", stdout);
}

/* Returns the title of the newest hazard of all processes. It is shown in full, since a column has
 * no room for both of its places. */
static const struct sc_watch_report *find_newest(const struct sc_follow *follow)
{
    const struct sc_watch_report *newest = NULL;
    for (const struct sc_followed *file = follow->first; file; file = file->next)
        if (file->report->hazard_order > (newest ? newest->hazard_order : 0))
            newest = file->report;
    return newest;
}

/* Writes what to do about a code, in two lines where one is too short for it. Advice is ASCII. */
static void put_advice(const char *code, struct sc_scratch *scratch, size_t width)
{
    const char *line =
        sc_scratch_print(scratch, "    what to do: %s", sc_shown_hazards_advice(code));
    size_t first = strlen(line);
    if (first > width)
        for (first = width; first > 0 && line[first] != ' '; first--) {
        }
    put_line(sc_scratch_print(scratch, "%.*s", (int)first, line), width);
    if (line[first] != '\0')
        put_line(sc_scratch_print(scratch, "    %s", line + first), width);
}

/* Writes the newest hazard below the table: its title ("SC101 source-freed-in-flight: free at
 * a.c:3 in f; cudaMemcpyAsync at b.c:4 in g") in three lines, and then the advice. */
static void put_newest(const struct sc_watch_report *newest, struct sc_scratch *scratch,
                       size_t width)
{
    static const char *const separators[] = {": ", "; "};
    const char *rest = newest->shown.newest;
    const char *before =
        sc_scratch_print(scratch, "newest: %s: ", PLAIN(sc_watched_name(&newest->shown, scratch)));
    for (size_t i = 0; i < 2; i++) {
        const char *end = strstr(rest, separators[i]);
        if (!end)
            break;
        put_line(sc_scratch_print(scratch, "%s%.*s", before, (int)(end - rest), rest), width);
        rest = end + strlen(separators[i]);
        before = "    ";
    }
    put_line(sc_scratch_print(scratch, "%s%s", before, rest), width);
    put_advice(sc_scratch_print(scratch, "%.5s", newest->shown.newest), scratch, width);
}

/* Puts as many rows as the terminal has room for. */
static void put_table(const struct sc_follow *follow, struct sc_scratch *scratch,
                      const struct winsize *size)
{
    size_t most = size->ws_row > LINES_AROUND + 1 ? size->ws_row - LINES_AROUND - 1U : 1;
    struct rows rows = make_rows(follow, scratch, most);
    fit(&rows, size->ws_col);
    put_line(line_of(&rows, heads, scratch), size->ws_col);
    for (size_t i = 0; i < rows.count; i++)
        put_line(line_of(&rows, rows.all[i].cells, scratch), size->ws_col);
    if (rows.count < follow->count)
        put_line(sc_scratch_print(scratch, "and %zu more", follow->count - rows.count),
                 size->ws_col);
}

/* Returns the size of the terminal, or a usual one if it does not say. */
static struct winsize find_size(void)
{
    struct winsize size = {0};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
        size = (struct winsize){.ws_row = ROWS_USUAL, .ws_col = COLUMNS_USUAL};
    return size;
}

/* Paints the screen anew, from its top. */
void sc_screen_paint(const struct sc_follow *follow, const char *footer)
{
    struct sc_scratch scratch = {0};
    const struct winsize size = find_size();
    const struct sc_watch_report *newest = find_newest(follow);
    fputs("\033[H", stdout);
    put_line(sc_screen_headline(follow, &scratch), size.ws_col);
    put_table(follow, &scratch, &size);
    if (newest)
        put_newest(newest, &scratch, size.ws_col);
    if (footer)
        put_line(PLAIN(footer), size.ws_col);
    fputs("\033[J", stdout);
    fflush(stdout);
    sc_scratch_free(&scratch);
    sc_say_forget();
}

/* Prints the table once, with all rows. */
void sc_screen_print(FILE *out, const struct sc_follow *follow)
{
    struct sc_scratch scratch = {0};
    const struct rows rows = make_rows(follow, &scratch, SIZE_MAX);
    fprintf(out, "%s\n", sc_screen_headline(follow, &scratch));
    if (rows.count > 0)
        fprintf(out, "%s\n", line_of(&rows, heads, &scratch));
    for (size_t i = 0; i < rows.count; i++)
        fprintf(out, "%s\n", line_of(&rows, rows.all[i].cells, &scratch));
    sc_scratch_free(&scratch);
    sc_say_forget();
}
