#define _GNU_SOURCE 1
#include "report/command/formats/source_place.h"
#include "report/command/shown.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Is there a frame, and is its source line known? */
static bool has_line(const struct sc_frame *frame)
{
    return frame && frame->file && frame->line > 0;
}

/* Returns the frame of the user's at which the hazard is shown: of the call that came too early,
 * or else of the operation. NULL: neither has a line. */
const struct sc_frame *sc_source_place_of(const struct sc_shown *hazard)
{
    if (has_line(hazard->event.stack.user))
        return hazard->event.stack.user;
    return has_line(hazard->copy.stack.user) ? hazard->copy.stack.user : NULL;
}

/* Takes "." and ".." out of an absolute path, in place and by the words alone. */
static void tidy(char *path)
{
    char *end = path;
    for (char *part = path; *part != '\0';) {
        size_t length = strcspn(part + 1, "/") + 1;
        bool is_back = length == 3 && memcmp(part, "/..", 3) == 0;
        bool is_nothing = length == 1 || (length == 2 && part[1] == '.');
        if (is_back)
            while (end > path && *--end != '/')
                ;
        if (!is_back && !is_nothing) {
            memmove(end, part, length);
            end += length;
        }
        part += length;
    }
    *end = '\0';
}

/* Returns the folder below which paths are shown as relative: the CI's checkout, or the current
 * one. */
static const char *workspace(void)
{
    static char *root;
    const char *named = getenv("GITHUB_WORKSPACE");
    if (!root)
        root = named && named[0] == '/' ? strdup(named) : get_current_dir_name();
    return root ? root : "/";
}

/* Returns the frame's path as the checkout has it, if it lies there. */
const char *sc_source_place_path(struct sc_scratch *scratch, const struct sc_frame *frame)
{
    const char *path = sc_frames_shown_path(scratch, frame), *root = workspace();
    size_t length = strlen(root);
    if (path[0] != '/')
        return path;
    char *tidied = sc_scratch_print(scratch, "%s", path);
    tidy(tidied);
    bool is_below =
        strncmp(tidied, root, length) == 0 && tidied[length] == '/' && tidied[length + 1] != '\0';
    return is_below ? tidied + length + 1 : tidied;
}
