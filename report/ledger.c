#define _GNU_SOURCE 1
#include "report/ledger.h"

#include "report/file.h"
#include "report/options.h"
#include "track/text.h"

#include <fcntl.h>
#include <string.h>

#include "track/poison.h"

static struct {
    char path[64]; /* "" without a ledger */
    struct sc_file_identity identity;
} ledger;

const char *sc_ledger_word(enum sc_ledger_note note)
{
    static const char *const words[] = {"report", "latent", "observed", "failed"};
    _Static_assert(sizeof words / sizeof words[0] == SC_LEDGER_NOTE_COUNT, "a word for each note");
    return words[note];
}

/* The number behind the ':' at *at, where *at is then moved behind it. 0 if there is none. */
static uint64_t take_number(const char **at)
{
    uint64_t number = 0;
    if (**at != ':')
        return 0;
    for (++*at; **at >= '0' && **at <= '9'; ++*at)
        number = number * 10 + (uint64_t)(**at - '0');
    return number;
}

void sc_ledger_take(const char *value)
{
    size_t length = value ? strcspn(value, ":") : 0;
    ledger.path[0] = '\0';
    if (length == 0 || length >= sizeof ledger.path)
        return;
    const char *at = value + length;
    ledger.identity.device = (dev_t)take_number(&at);
    ledger.identity.inode = (ino_t)take_number(&at);
    if (ledger.identity.inode == 0 || *at != '\0')
        return;
    memcpy(ledger.path, value, length);
    ledger.path[length] = '\0';
}

/* A descriptor of what is at the path now, if that is the ledger; else -1. */
static int open_if_same(int flags)
{
    int fd = sc_file_open_existing(ledger.path, flags);
    if (fd < 0 || sc_file_is_same(fd, &ledger.identity))
        return fd < 0 ? -1 : fd;
    sc_file_close(fd);
    return -1;
}

/* The path may name something else in another container, or when the run is over. What that is has
 * to be known before it is opened, since opening alone may do something. */
static int open_ledger(void)
{
    int seen = ledger.path[0] != '\0' ? open_if_same(O_PATH) : -1;
    if (seen < 0)
        return -1;
    sc_file_close(seen);
    return open_if_same(O_WRONLY);
}

void sc_ledger_append(const char *notes, size_t size)
{
    int fd = open_ledger();
    if (fd < 0)
        return;
    sc_file_write(fd, notes, size);
    sc_file_close(fd);
}

void sc_ledger_note(enum sc_ledger_note note, const struct sc_path_names *names, const char *path)
{
    char bytes[SC_OPTIONS_PATH_SIZE + 128];
    struct sc_text text;
    if (ledger.path[0] == '\0')
        return;
    sc_text_init(&text, bytes, sizeof bytes);
    sc_text_signed(&text, names->pid);
    sc_text_char(&text, ' ');
    sc_text_decimal(&text, names->started);
    sc_text_char(&text, ' ');
    sc_text_put(&text, sc_ledger_word(note));
    sc_text_put(&text, path ? " " : "");
    sc_text_put(&text, path ? path : "");
    sc_ledger_append(text.bytes, text.used + 1);
}
