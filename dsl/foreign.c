/* foreign.c - recognises for parse.c input files of other formats (PNG, Python, C, ...), so that the user gets one
 * error that names the format and not one for each byte that is not valid .df.
 *
 * Binary formats are recognised by their magic bytes, text by its first word after any comments. A text in which some
 * line begins a kernel, graph, param, arg, type or platform the way a .df file does is never taken for a foreign
 * format: it is a .df file with mistakes, which the parser reports one by one.
 */
#include <ctype.h>
#include <string.h>

#include "dsl/reader.h"

struct look {
    const char *text;
    size_t length, first; /* first: where the first word begins, after blanks and comments of C */
    size_t word;          /* the same after lines that begin with '#', too */
};

static bool at(const struct look *l, size_t offset, const char *begin)
{
    size_t n = strlen(begin);
    return offset <= l->length && n <= l->length - offset && memcmp(l->text + offset, begin, n) == 0;
}

static size_t line_end(const struct look *l, size_t offset)
{
    const char *end = memchr(l->text + offset, '\n', l->length - offset);
    return end ? (size_t)(end - l->text) : l->length;
}

static bool line_has(const struct look *l, size_t offset, char c)
{
    return memchr(l->text + offset, c, line_end(l, offset) - offset) != NULL;
}

static size_t skip_blanks(const struct look *l, size_t offset)
{
    while (offset < l->length && isspace((unsigned char)l->text[offset]))
        offset++;
    return offset;
}

static size_t skip_name(const struct look *l, size_t offset)
{
    while (offset < l->length && (isalnum((unsigned char)l->text[offset]) || l->text[offset] == '_'))
        offset++;
    return offset;
}

static size_t skip_comments(const struct look *l, size_t offset, bool hash)
{
    for (;;) {
        offset = skip_blanks(l, offset);
        if (at(l, offset, "//") || (hash && at(l, offset, "#"))) {
            offset = line_end(l, offset);
        } else if (at(l, offset, "/*")) {
            for (offset += 2; offset < l->length && !at(l, offset, "*/"); offset++)
                ;
            offset = offset < l->length ? offset + 2 : offset;
        } else {
            return offset;
        }
    }
}

/* Returns true if `word` and then a name stand at the offset. *after: the character after the name, 0 at the end of the text. */
static bool names(const struct look *l, size_t offset, const char *word, char *after)
{
    size_t name = skip_blanks(l, offset + strlen(word)), end;
    if (!at(l, offset, word) || name == offset + strlen(word) || name >= l->length || isdigit((unsigned char)l->text[name]))
        return false;
    end = skip_name(l, name);
    name = skip_blanks(l, end);
    *after = name < l->length ? l->text[name] : '\0';
    return end > skip_blanks(l, offset + strlen(word));
}

static bool any_word(const struct look *l, size_t offset, const char *const *words)
{
    for (; *words; words++)
        if (at(l, offset, *words))
            return true;
    return false;
}

/* Does some line begin with one of the words? */
static bool any_line(const struct look *l, const char *const *words)
{
    for (size_t line = 0; line < l->length; line = line_end(l, line) + 1)
        if (any_word(l, line, words))
            return true;
    return false;
}

/* `graph NAME {` and what a graph of DOT has first: an edge, or attributes. */
static bool dot_statements(const struct look *l, size_t brace)
{
    size_t begin = skip_comments(l, brace + 1, true), end = skip_name(l, begin);
    if (end == begin && at(l, begin, "\"")) {
        const char *quote = memchr(l->text + begin + 1, '"', l->length - begin - 1);
        end = quote ? (size_t)(quote - l->text) + 1 : begin;
    }
    const size_t after = skip_blanks(l, end), name = skip_blanks(l, after + 1), equals = skip_blanks(l, skip_name(l, name));
    return end > begin && (at(l, after, "--") || (at(l, after, "[") && at(l, equals, "=")));
}

static bool declares(const struct look *l)
{
    static const char *const words[] = {"kernel", "graph", "param", "arg", "type", "platform"};
    for (size_t line = 0; line < l->length; line = line_end(l, line) + 1)
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            char after;
            const size_t begin = skip_blanks(l, line);
            if (names(l, begin, words[i], &after) && after && strchr("(=:{", after) &&
                !(after == '{' && dot_statements(l, (size_t)((const char *)memchr(l->text + begin, '{', l->length - begin) - l->text))))
                return true;
        }
    return false;
}

/* ---- texts ---- */

static bool is_dot(const struct look *l)
{
    const bool undirected = at(l, l->word, "graph");
    char after;
    if (names(l, l->word, "strict", &after) || names(l, l->word, "digraph", &after))
        return true;
    if (!undirected && !at(l, l->word, "digraph"))
        return false;
    const size_t name = skip_blanks(l, l->word + strlen(undirected ? "graph" : "digraph"));
    if (at(l, name, "\""))
        return true;
    const size_t brace = skip_blanks(l, skip_name(l, name));
    return at(l, brace, "{") && (!undirected || dot_statements(l, brace));
}

/* A number of tasks, then a line of at least three numbers. */
static bool is_stg(const struct look *l)
{
    const size_t line = line_end(l, l->word);
    size_t offset = l->word;
    for (; offset < line && isdigit((unsigned char)l->text[offset]); offset++)
        ;
    if (offset == l->word || skip_blanks(l, offset) < line)
        return false;
    const size_t second = line < l->length ? line_end(l, line + 1) : line;
    unsigned n = 0;
    for (offset = skip_blanks(l, line); offset < second && isdigit((unsigned char)l->text[offset]); n++)
        offset = skip_blanks(l, skip_name(l, offset));
    return n >= 3;
}

static bool is_json(const struct look *l)
{
    const size_t next = skip_blanks(l, l->first + 1);
    if (next >= l->length)
        return false;
    const char *begins = at(l, l->first, "{") ? "\"}" : at(l, l->first, "[") ? "{[\"]-0123456789" : "";
    return memchr(begins, l->text[next], strlen(begins)) != NULL;
}

static bool is_workflow(const struct look *l)
{
    return is_json(l) && memmem(l->text, l->length, "\"workflow\"", 10);
}

static bool is_xml(const struct look *l)
{
    return at(l, l->first, "<") && l->first + 1 < l->length && (isalpha((unsigned char)l->text[l->first + 1]) || strchr("?!", l->text[l->first + 1]));
}

static bool is_dax(const struct look *l)
{
    return is_xml(l) && memmem(l->text, l->length, "<adag", 5);
}

static bool is_slurm_conf(const struct look *l)
{
    return any_line(l, (const char *const[]){"ClusterName=", "SlurmctldHost=", "ControlMachine=", "NodeName=", "PartitionName=", NULL});
}

static bool is_job_script(const struct look *l)
{
    return at(l, 0, "#!") && any_line(l, (const char *const[]){"#SBATCH", "#PBS", "#BSUB", NULL});
}

static bool is_python(const struct look *l)
{
    char after;
    if (at(l, 0, "#!") && memmem(l->text, line_end(l, 0), "python", 6))
        return true;
    if (line_has(l, l->word, ';'))
        return false;
    return names(l, l->word, "from", &after) || names(l, l->word, "import", &after) ||
           (names(l, l->word, "def", &after) && after == '(') || (names(l, l->word, "class", &after) && (after == '(' || after == ':'));
}

static bool is_script(const struct look *l)
{
    return at(l, 0, "#!");
}

static bool is_c(const struct look *l)
{
    static const char *const begins[] = {"#include", "#define", "#ifdef", "#ifndef", "#pragma", "extern \"C", "template <", "template<",
                                         "__global__", "static ", "typedef ", "using namespace ", NULL},
                             *const types[] = {"void", "int", "float", "double", "size_t", "struct", "namespace"};
    char after;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (names(l, l->first, types[i], &after) && (after == '(' || after == '{'))
            return true;
    return any_word(l, l->first, begins);
}

static bool is_cuda(const struct look *l)
{
    return is_c(l) && memmem(l->text, l->length, "__global__", 10);
}

/* A mapping's first key, or the line that begins a document. */
static bool is_yaml(const struct look *l)
{
    const size_t end = skip_name(l, l->word);
    if (at(l, l->word, "---") || at(l, l->word, "%YAML"))
        return true;
    if (line_has(l, end, ';') || line_has(l, end, '=') || line_has(l, end, '(')) /* a statement of a graph: 'a: f32[8] = f()' */
        return false;
    return end > l->word && at(l, end, ":") && end + 1 < l->length && isspace((unsigned char)l->text[end + 1]);
}

#define KNOWN_TIMES "a task graph with known times is a .df of kernels that have costs and no code: 'kernel t(in a: f32[n], out b: f32[n]) cost cpu 3ms;'"
#define A_GRAPH "a .df declares kernels and calls them in a graph: 'graph main { b: f32[100] = f(); g(b); }'"

static const struct {
    bool (*is)(const struct look *);
    const char *what, *hint;
} texts[] = {
    {is_dot, "a graph of Graphviz (DOT)", "dfc writes DOT ('dfc partition FILE.df --dot=g.dot') and does not read it; " A_GRAPH},
    {is_stg, "a standard task graph (STG)", KNOWN_TIMES},
    {is_workflow, "a workflow in JSON (WfCommons)", KNOWN_TIMES},
    {is_json, "JSON", A_GRAPH},
    {is_dax, "a workflow in XML (DAX)", KNOWN_TIMES},
    {is_xml, "XML", A_GRAPH},
    {is_slurm_conf, "Slurm's configuration", "a cluster is 'platform NAME { node KIND { ... } network NAME { ... } }'; docs/clusters.md says more"},
    {is_job_script, "a job script", "'sbatch' or the like submits it; dfc compiles the .df of the graph that it runs"},
    {is_python, "a Python program", "'python3' runs it; from Python, dfc.compile(\"graph.df\") compiles a graph"},
    {is_script, "a script", "dfc compiles .df files; a script calls 'dfc graph.df -o program'"},
    {is_cuda, "CUDA code", "a kernel names the file of its code: 'kernel f(in a: f32[n], out b: f32[n]) cpu \"f.c\" gpu \"f.cu\";'"},
    {is_c, "C or C++ code", "a kernel names the file of its code: 'kernel f(in a: f32[n], out b: f32[n]) cpu \"f.c\";'; 'dfc wrap f.c' writes such declarations"},
    {is_yaml, "YAML", A_GRAPH},
};

/* ---- binary formats ---- */

#define READ_BY "a graph reads it by a kernel: 'import \"std/io.df\";' has some for pictures and arrays"
#define SAVE_AS "the kernels of std/io.df read raw files, .npy, PNG, JPEG and TIFF: save it as one of these"
#define UNPACK "unpack it first"

static const struct {
    const char *bytes, *what, *hint;
    unsigned char n;
} formats[] = {
    {"\x7F" "ELF", "a compiled program, library or object (ELF)", "a program that dfc made runs by its name; dfc compiles the .df that it was made of", 4},
    {"MZ\x90", "a program for Windows", "dfc compiles .df files", 3},
    {"!<arch>\n", "an archive of objects", "a kernel names it as it names a source: 'cpu \"libold.a\": f(a, b)'", 8},
    {"\x1F\x8B", "compressed by gzip", UNPACK ": 'gunzip FILE'", 2},
    {"BZh", "compressed by bzip2", UNPACK, 3},
    {"\xFD" "7zXZ", "compressed by xz", UNPACK, 5},
    {"\x28\xB5\x2F\xFD", "compressed by zstd", UNPACK, 4},
    {"PK\x03\x04", "a zip archive", UNPACK, 4},
    {"\x89PNG", "a picture (PNG)", READ_BY, 4},
    {"\xFF\xD8\xFF", "a picture (JPEG)", READ_BY, 3},
    {"II*\0", "a picture (TIFF)", READ_BY, 4},
    {"MM\0*", "a picture (TIFF)", READ_BY, 4},
    {"P5\n", "a picture (PGM)", SAVE_AS, 3},
    {"P6\n", "a picture (PPM)", SAVE_AS, 3},
    {"\x93NUMPY", "an array of NumPy", READ_BY, 6},
    {"\x89HDF", "an HDF5 file", SAVE_AS, 4},
    {"%PDF", "a PDF", "dfc compiles .df files", 4},
    {"SQLite format 3", "a database (SQLite)", "a profile database is named by $DFC_PROFILE or --db; dfc compiles .df files", 15},
    {"\xFF\xFE", "text in UTF-16", "save it as UTF-8: 'iconv -f UTF-16 -t UTF-8 FILE'", 2},
    {"\xFE\xFF", "text in UTF-16", "save it as UTF-8: 'iconv -f UTF-16 -t UTF-8 FILE'", 2},
};

/* ---- the file ---- */

static void report(struct dfl_sink *sink, uint32_t file, const struct look *l, size_t place, const char *what, const char *hint)
{
    struct dfl_loc loc = dfl_loc_at(file, l->text, place);
    dfl_error(sink, loc, "this file is %s and not a .df", what);
    dfl_hint(sink, "%s", hint);
}

bool dfl_foreign(struct dfl_sink *sink, uint32_t file, const char *text, size_t length)
{
    struct look l = {.text = text, .length = length};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (length >= formats[i].n && memcmp(text, formats[i].bytes, formats[i].n) == 0) {
            report(sink, file, &l, 0, formats[i].what, formats[i].hint);
            return true;
        }
    l.first = skip_comments(&l, 0, false);
    l.word = skip_comments(&l, 0, true);
    if (l.word == length || declares(&l))
        return false;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].is(&l)) {
            report(sink, file, &l, l.first, texts[i].what, texts[i].hint);
            return true;
        }
    return false;
}
