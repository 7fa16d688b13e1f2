/* instance.h - one type's instance of a template; part of instantiate.h.  No include guard. */
#include TRS_TEMPLATE
#undef LETTER
#undef SCALAR
#undef REAL
#undef WIDE
#undef WIDE_REAL
#undef IS_COMPLEX
#undef MUL
#undef DIV
#undef CONJ
#undef ABS
