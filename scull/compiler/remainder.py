"""The remainder of floats, cut towards zero, as a function in LLVM's language."""

REMAINDER = """
; by long division: as many steps as the exponents differ
define internal double @truncated_remainder(double %x, double %y) nounwind {
entry:
  %a = call double @llvm.fabs.f64(double %x)
  %b = call double @llvm.fabs.f64(double %y)
  %zero = fcmp oeq double %b, 0.0
  %number = fcmp one double %a, 0x7FF0000000000000
  %valid.y = fcmp ord double %b, %b
  %valid = and i1 %number, %valid.y
  %not.zero = xor i1 %zero, true
  %proper = and i1 %valid, %not.zero
  br i1 %proper, label %compare, label %undefined
undefined:
  ret double 0x7FF8000000000000
compare:
  %within = fcmp olt double %a, %b
  br i1 %within, label %whole, label %divide
whole:
  ret double %x
divide:
  %a.lifted = call {i64, i64} @significand(double %a)
  %b.lifted = call {i64, i64} @significand(double %b)
  %m = extractvalue {i64, i64} %a.lifted, 0
  %e = extractvalue {i64, i64} %a.lifted, 1
  %n = extractvalue {i64, i64} %b.lifted, 0
  %f = extractvalue {i64, i64} %b.lifted, 1
  br label %loop
loop:
  %rest = phi i64 [%m, %divide], [%doubled, %next]
  %place = phi i64 [%e, %divide], [%lower, %next]
  %fits = icmp uge i64 %rest, %n
  %less = sub i64 %rest, %n
  %kept = select i1 %fits, i64 %less, i64 %rest
  %more = icmp sgt i64 %place, %f
  br i1 %more, label %next, label %end
next:
  %doubled = shl i64 %kept, 1
  %lower = sub i64 %place, 1
  br label %loop
end:
  %deep = sub i64 1, %f
  %drop = call i64 @llvm.smax.i64(i64 %deep, i64 0)
  %left = lshr i64 %kept, %drop
  %least = call i64 @llvm.smax.i64(i64 %f, i64 1)
  %none = icmp eq i64 %left, 0
  %zeros = call i64 @llvm.ctlz.i64(i64 %left, i1 false)
  %lift = sub i64 %zeros, 11
  %room = sub i64 %least, 1
  %short = icmp slt i64 %lift, %room
  %shift.some = select i1 %short, i64 %lift, i64 %room
  %shift = select i1 %none, i64 0, i64 %shift.some
  %placed = shl i64 %left, %shift
  %exponent = sub i64 %least, %shift
  %normal = icmp uge i64 %placed, 4503599627370496
  %written = select i1 %normal, i64 %exponent, i64 0
  %fraction = and i64 %placed, 4503599627370495
  %field = shl i64 %written, 52
  %bits = or i64 %fraction, %field
  %result = bitcast i64 %bits to double
  %signed = call double @llvm.copysign.f64(double %result, double %x)
  ret double %signed
}

; a positive number as m * 2**e of one scale, m from 2**52 up to 2**53
define internal {i64, i64} @significand(double %x) nounwind {
  %bits = bitcast double %x to i64
  %field = lshr i64 %bits, 52
  %fraction = and i64 %bits, 4503599627370495
  %tiny = icmp eq i64 %field, 0
  %full = or i64 %fraction, 4503599627370496
  %zeros = call i64 @llvm.ctlz.i64(i64 %fraction, i1 false)
  %lift = sub i64 %zeros, 11
  %safe = select i1 %tiny, i64 %lift, i64 0
  %lifted = shl i64 %fraction, %safe
  %below = sub i64 1, %safe
  %m = select i1 %tiny, i64 %lifted, i64 %full
  %e = select i1 %tiny, i64 %below, i64 %field
  %first = insertvalue {i64, i64} undef, i64 %m, 0
  %both = insertvalue {i64, i64} %first, i64 %e, 1
  ret {i64, i64} %both
}
"""
