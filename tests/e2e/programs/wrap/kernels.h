typedef float real;
#define GROUP 64
