/* video.c - the sources of std/video.df, compiled into programs that import it: raw frames from a pipe, a FIFO, a device or a file, read as they come. The end
 * of a run ends a read that waits for a camera. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <df_io.h>

struct source {
    int open, file;
};

static int end_source(void *state, int good, struct df_error *error)
{
    struct source *s = state;
    (void)good, (void)error;
    if (s->open)
        close(s->file);
    return DF_OK;
}

/* A FIFO that nobody has opened for writing opens at once, so that the wait for its first bytes ends with the run, too. */
static int open_source(struct df_call *call, struct source *s, const char *path)
{
    if (s->open)
        return DF_OK;
    s->file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (s->file < 0)
        return df_fail(call, "cannot read '%s': %s", path, *path ? strerror(errno) : "the name is empty");
    s->open = 1;
    return DF_OK;
}

static int fail_short(struct df_call *call, const char *path, size_t got, unsigned rank, const size_t *extents)
{
    uint64_t whole[3];
    size_t bytes = 1;
    char text[96];
    for (unsigned i = 0; i < rank; i++) {
        whole[i] = extents[i];
        bytes *= extents[i];
    }
    return df_fail(call, "'%s' ends within a frame: of %s there are %zu of %zu bytes", path, df_extents_text(text, sizeof text, DF_U8, rank, whole), got, bytes);
}

static int read_frame(struct df_call *call, unsigned char *frame, const char *path, unsigned rank, const size_t *extents)
{
    struct source *s = df_state(call, sizeof *s, end_source);
    size_t bytes = 1, got = 0;
    ssize_t n = 1;
    if (!s || open_source(call, s, path) != DF_OK)
        return DF_FAILED;
    for (unsigned i = 0; i < rank; i++)
        bytes *= extents[i];
    while (got < bytes && n != 0) {
        if (df_file_wait(call, s->file) != DF_OK)
            return DF_END;
        n = read(s->file, frame + got, bytes - got);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return df_fail(call, "cannot read '%s': %s", path, strerror(errno));
        got += n > 0 ? (size_t)n : 0;
    }
    return got == bytes ? DF_OK : got == 0 ? DF_END : fail_short(call, path, got, rank, extents);
}

int read_video_cpu(struct df_call *call, size_t h, size_t w, unsigned char *frame, const char *path)
{
    return read_frame(call, frame, path, 2, (size_t[]){ h, w });
}

int read_video_rgb_cpu(struct df_call *call, size_t h, size_t w, size_t c, unsigned char *frame, const char *path)
{
    return read_frame(call, frame, path, 3, (size_t[]){ h, w, c });
}
