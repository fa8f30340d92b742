static const float more = 1;
