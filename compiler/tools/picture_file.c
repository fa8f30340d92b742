/* picture_file.c - writes the SVG files of the commands that draw, and converts them to PNG with rsvg-convert. */
#include "compiler/tools/picture_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compiler/tools/messages.h"
#include "compiler/tools/spawn.h"

static bool is_png(const char *path)
{
    size_t n = strlen(path);
    return n > 4 && strcasecmp(path + n - 4, ".png") == 0;
}

bool dfc_picture_open(struct dfc_picture *picture, const char *path)
{
    *picture = (struct dfc_picture){ .png = is_png(path) };
    if (!dfc_output_open(&picture->output, path))
        return false;
    picture->file = picture->png ? open_memstream(&picture->svg, &picture->size) : picture->output.file;
    if (picture->file)
        return true;
    dfc_error("out of memory");
    dfc_output_close(&picture->output, false);
    return false;
}

/* The longer side of the picture in pixels, as its first tag says it; 0: it does not. */
static double longer_side(const char *svg)
{
    double sides[2] = { 0, 0 };
    const char *const names[] = { " width=\"", " height=\"" };
    for (int i = 0; i < 2; i++) {
        const char *at = strstr(svg, "<svg");
        char *end;
        at = at ? strstr(at, names[i]) : NULL;
        if (!at)
            return 0;
        sides[i] = strtod(at + strlen(names[i]), &end);
        sides[i] *= strncmp(end, "pt", 2) == 0 ? 96.0 / 72 : 1;
    }
    return fmax(sides[0], sides[1]);
}

/* Has a file made of the SVG that is open as `from`. */
static bool convert(const struct dfc_picture *picture, int from, const char *to)
{
    struct dfc_list argv = { 0 };
    char *said = NULL;
    dfc_list_add_words(&argv, "rsvg-convert --unlimited --format=png");
    if (longer_side(picture->svg) > DFC_MOST_PIXELS) {
        dfc_list_add(&argv, "--keep-aspect-ratio");
        dfc_list_add(&argv, "--width=%d", DFC_MOST_PIXELS);
        dfc_list_add(&argv, "--height=%d", DFC_MOST_PIXELS);
    }
    dfc_list_add(&argv, "--output=%s", to);
    dfc_list_add(&argv, "/proc/self/fd/%d", from);
    int status = argv.failed ? -1 : dfc_run_tool(argv.items, &dfc_discard, &said);
    if (status < 0 && !argv.failed && errno == ENOENT)
        dfc_error("PNG is made by rsvg-convert, and it is not here: install librsvg2-bin, or write SVG");
    else if (status < 0)
        dfc_error("cannot run 'rsvg-convert': %s", argv.failed ? "out of memory" : strerror(errno));
    else if (status)
        dfc_error("rsvg-convert cannot make the PNG: %.*s", said ? (int)strcspn(said, "\n") : 0, said ? said : "");
    dfc_list_free(&argv);
    free(said);
    return status == 0;
}

static bool make_png(struct dfc_picture *picture)
{
    struct dfr_output *to = &picture->output.to;
    int from = memfd_create("picture.svg", 0); /* rsvg-convert inherits it */
    FILE *file = from >= 0 ? fdopen(from, "w") : NULL;
    bool good = file && fwrite(picture->svg, 1, picture->size, file) == picture->size && fflush(file) == 0;
    if (!good)
        dfc_error("cannot keep the picture for rsvg-convert: %s", strerror(errno));
    else
        good = convert(picture, from, to->temporary ? to->temporary : to->path);
    if (file)
        fclose(file);
    else if (from >= 0)
        close(from);
    return good;
}

bool dfc_picture_close(struct dfc_picture *picture, bool keep)
{
    if (picture->png) {
        bool whole = !ferror(picture->file);
        whole = fclose(picture->file) == 0 && whole;
        if (keep && !whole)
            dfc_error("out of memory");
        keep = keep && whole && make_png(picture);
        free(picture->svg);
    }
    bool closed = dfc_output_close(&picture->output, keep);
    return closed && keep;
}

bool dfc_picture_write(const char *path, const char *text, size_t size)
{
    struct dfc_picture picture;
    if (!dfc_picture_open(&picture, path))
        return false;
    errno = 0;                          /* a large text goes past the buffer, so fwrite() alone knows why it could not be written */
    const bool whole = fwrite(text, 1, size, picture.file) == size, is_file = picture.file != stdout;
    if (!whole && is_file)              /* else closing tells it */
        dfc_error("cannot write '%s': %s", path, strerror(errno ? errno : EIO));
    return dfc_picture_close(&picture, whole || !is_file);
}
