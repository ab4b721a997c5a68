"""Bilinear compatibilities trained by ranking losses."""
