int halve(int v);

int halve(int v)
{
    return v / 2;
}
