import streamlit as st

st.title("from Streamlit")
