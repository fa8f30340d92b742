/* Code from before: a static function, a macro, a type of its own, and a function that another file has. */
#define PLUS 1

struct span { int *at; int n; };

static int square_of(int v) { return v * v + PLUS; }

int halve(int v);

int squares(struct span from, int *to)
{
    for (int i = 0; i < from.n; i++)
        to[i] = halve(2 * square_of(from.at[i]));
    return from.n;
}
